#include "team.h"

#include "../harness/error.h"
#include "../harness/openmp.h"

static struct worker *workers;
static int team_size;
static word block;

static struct {
	int wrong;
	double found, expected;
} sum_seen;

void team_start(int threads)
{
	free(workers);
	team_size = threads;
	if (posix_memalign((void **)&workers, LINES_APART, (size_t)team_size * sizeof(*workers)) !=
	    0)
		die("no memory for %d threads", "give fewer with '--threads'", team_size);
	memset(workers, 0, (size_t)team_size * sizeof(*workers));
}

int team_count(void)
{
	return team_size;
}

/* A runtime that starts more threads than requested writes nowhere else. */
struct worker *worker_here(void)
{
	const int thread = omp_get_thread_num();
	struct worker *const worker = &workers[thread < team_size ? thread : 0];

	worker->block = block;
	return worker;
}

void work(struct worker *worker)
{
	worker->x = delay(worker->x);
}

void work_long(struct worker *worker, int times)
{
	int i;

	for (i = 0; i < times; i++)
		work(worker);
}

word block_now(void)
{
	return block;
}

void sum_expect(double sum, double expected)
{
	if (sum == expected || sum_seen.wrong)
		return;
	sum_seen.wrong = 1;
	sum_seen.found = sum;
	sum_seen.expected = expected;
}

void block_begin(void)
{
	int t;

	block++;
	sum_seen.wrong = 0;
	for (t = 0; t < team_size; t++) {
		workers[t].x = 1;
		workers[t].copy = NULL;
		workers[t].wrong = 0;
	}
}

static int threads_in_block(void)
{
	int t, count = 0;

	for (t = 0; t < team_size; t++)
		count += workers[t].block == block;
	return count;
}

/* Whether two threads had their copies at the same place. */
static int copies_shared(void)
{
	int t, u;

	for (t = 0; t < team_size; t++)
		for (u = 0; u < t; u++)
			if (workers[t].copy && workers[t].copy == workers[u].copy)
				return 1;
	return 0;
}

static void judge_copies(const char *name)
{
	long wrong = 0;
	int t;

	for (t = 0; t < team_size; t++)
		wrong += workers[t].wrong;
	if (wrong)
		verdict_invalid(NOT_VALIDATED, "%s: %ld copies did not hold what was copied", name,
				wrong);
	if (copies_shared())
		verdict_invalid(NOT_VALIDATED, "%s: two threads shared a copy", name);
}

void block_end(const char *name, word count, int threads)
{
	const int seen = threads_in_block();
	word product = 1;
	int t;

	for (t = 0; t < team_size; t++)
		product *= workers[t].x;
	if (seen < threads)
		verdict_invalid(FEWER_THREADS, "%s: %d of %d threads took part in it", name, seen,
				threads);
	else if (product != delays(count))
		verdict_invalid(NOT_VALIDATED, "%s: its %llu delays did not all run exactly once",
				name, count);
	if (sum_seen.wrong)
		verdict_invalid(NOT_VALIDATED, "%s: the sum is %.17g, not %.17g", name,
				sum_seen.found, sum_seen.expected);
	judge_copies(name);
}
