#include "team_sizes.h"

#include "options.h"

static struct team_sizes *team_size_list;

static int team_size_take(const char *text, size_t length)
{
	const size_t threads = option_list_number(text, length, THREADS_MAX);

	if (threads < 1 || threads > THREADS_MAX || team_size_list->count == TEAM_SIZES_MAX)
		return 0;
	team_size_list->threads[team_size_list->count++] = (int)threads;
	return 1;
}

static int team_size_by_threads(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

void team_sizes_read(struct team_sizes *sizes, const char *option, const char *text,
		     const char *hint)
{
	int t, kept = 0;

	sizes->count = 0;
	team_size_list = sizes;
	option_list(option, text, team_size_take, hint);
	qsort(sizes->threads, (size_t)sizes->count, sizeof(*sizes->threads), team_size_by_threads);
	for (t = 0; t < sizes->count; t++)
		if (!kept || sizes->threads[t] != sizes->threads[kept - 1])
			sizes->threads[kept++] = sizes->threads[t];
	sizes->count = kept;
}

void team_sizes_double(struct team_sizes *sizes, int most)
{
	int threads;

	sizes->count = 0;
	for (threads = 1; threads < most; threads *= 2)
		sizes->threads[sizes->count++] = threads;
	sizes->threads[sizes->count++] = most;
}
