#include "limits.h"

#include "../../harness/clock.h"
#include "../../harness/json.h"
#include "../../harness/room.h"
#include "../../harness/verdict.h"
#include "../kernels/thread_range.h"
#include "../kernels/validate.h"

const char *const limits_names[LIMITS] = { "read", "fill", "fill-nt", "update" };

enum { TRIES = 2, TIMES_DEFAULT = 10 };

struct runner {
	enum limit limit;
	const struct limit_kernel *compiled;
	struct variant update;
	const struct arrays *arrays;
	element fill; /* what fill writes */
	unsigned long long sum;
};

/* Elements behind the last whole step: 8 bytes at a time, then what is left. */
static unsigned long long sum_rest(const element *from, size_t n)
{
	const char *at = (const char *)from;
	size_t bytes = n * sizeof(element);
	unsigned long long sum = 0;

	while (bytes) {
		const size_t take = bytes < sizeof(sum) ? bytes : sizeof(sum);
		unsigned long long word = 0;

		memcpy(&word, at, take);
		sum += word;
		at += take;
		bytes -= take;
	}
	return sum;
}

static unsigned long long read_share(const struct runner *r, struct share mine)
{
	const element *at = r->arrays->of[0] + mine.first;
	const size_t whole = mine.size / r->compiled->step * r->compiled->step;

	return r->compiled->read(at, whole) + sum_rest(at + whole, mine.size - whole);
}

static void fill_share(const struct runner *r, struct share mine)
{
	const enum store store = r->limit == LIMIT_fill_nt ? STORE_nt : STORE_ordinary;
	element *at = r->arrays->of[0] + mine.first;
	const size_t whole = mine.size / r->compiled->step * r->compiled->step;
	size_t i;

	r->compiled->fill[store](at, at, at, r->fill, whole, 0);
	for (i = whole; i < mine.size; i++)
		at[i] = r->fill;
	if (store == STORE_nt)
		variants_fence_all();
}

static void run_share(struct runner *r)
{
	const struct share mine = share_of_thread(r->arrays->size);
	element *at = r->arrays->of[0] + mine.first;
	unsigned long long sum;

	if (r->limit == LIMIT_update) {
		variants_span(&r->update, KERNEL_scale, at, at, at, -1, mine.size);
	} else if (r->limit == LIMIT_read) {
		sum = read_share(r, mine);
#pragma omp critical
		r->sum += sum;
	} else {
		fill_share(r, mine);
	}
}

static double time_of_run(struct runner *r)
{
	const double start = clock_now();

	r->sum = 0;
#pragma omp parallel
	run_share(r);
	return clock_now() - start;
}

/* The sum that an array full of `value` must have. */
static unsigned long long sum_expected(const struct arrays *arrays, element value)
{
	element two[2];
	unsigned long long word;
	const size_t a_word = sizeof(word) / sizeof(element);

	two[0] = two[1] = value;
	memcpy(&word, two, sizeof(word));
	return word * (arrays->size / a_word) + sum_rest(two, arrays->size % a_word);
}

/* Elements of a that do not hold these bits. */
static size_t wrong_elements(const struct arrays *arrays, element value)
{
	size_t wrong = 0;

#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);
		const element *at = arrays->of[0] + mine.first;
		size_t i, here = 0;

		for (i = 0; i < mine.size; i++)
			here += bits_of(at[i]) != bits_of(value);
#pragma omp critical
		wrong += here;
	}
	return wrong;
}

/* One run, and what it must leave behind in *held; 1 where a sum is wrong. */
static int run_once(struct runner *r, element *held, double *time)
{
	r->fill = *held == 1 ? 2 : 1;
	*time = time_of_run(r);
	if (r->limit == LIMIT_read)
		return r->sum != sum_expected(r->arrays, *held);
	*held = r->limit == LIMIT_update ? -*held : r->fill;
	return 0;
}

static int can_run(const struct runner *r)
{
	if (!variants_width_here(r->compiled->width))
		return 0;
	return r->limit != LIMIT_fill_nt || r->compiled->fill[STORE_nt];
}

/* The ordinary variant of that width for update. */
static void choose_update(struct runner *r)
{
	const struct tuned_kernel *compiled;
	int i;

	for (i = 0; (compiled = variants_compiled(i)) != NULL; i++)
		if (compiled->width == r->compiled->width && compiled->store == STORE_ordinary &&
		    compiled->streams == 1 && compiled->prefetch == PREFETCHED_none)
			r->update.compiled = compiled;
}

/* The width that is fastest in a few tries; NULL where there is none. */
static const struct limit_kernel *best_of(struct runner *r, element *held, size_t *wrong)
{
	const struct limit_kernel *best = NULL;
	double time, least = 0;
	int i, t;

	for (i = 0; (r->compiled = variants_limit(i)) != NULL; i++) {
		choose_update(r);
		for (t = 0; t < TRIES && can_run(r); t++) {
			*wrong += (size_t)run_once(r, held, &time);
			if (best && time >= least)
				continue;
			least = time;
			best = r->compiled;
		}
	}
	return best;
}

static void measure_limit(struct limits *l, struct runner *r, element *held)
{
	struct timing *t = &l->of[r->limit].timing;
	int i;

	l->of[r->limit].counted = (r->limit == LIMIT_update ? 2 : 1) * sizeof(element);
	l->of[r->limit].moved =
		(1 + (r->limit == LIMIT_fill || r->limit == LIMIT_update)) * sizeof(element);
	r->compiled = best_of(r, held, &l->wrong);
	if (!r->compiled)
		return;
	choose_update(r);
	l->of[r->limit].width = variants_width_names[r->compiled->width];
	t->times = room_for((size_t)l->ntimes, sizeof(double), "times", "give less with '-t'");
	for (i = 0; i < l->ntimes; i++)
		l->wrong += (size_t)run_once(r, held, &t->times[i]);
	l->wrong += wrong_elements(r->arrays, *held);
	measure_timing(t, l->ntimes, (double)l->of[r->limit].counted * (double)r->arrays->size);
}

/* GB/s of what really moves: writes without write-allocate where nt can be had. */
static double moved_gbs(const struct limits *l, enum limit limit)
{
	return 1e-3 * l->of[limit].timing.best_mbs * (double)l->of[limit].moved /
	       (double)l->of[limit].counted;
}

/* Of a tuned kernel: how much moves, against the limits. */
static void compare_kernel(struct limits *l, int k, enum store store, const struct measurement *m,
			   double read, double fill)
{
	const double reads = kernels[k].loads + (store == STORE_ordinary);
	const double moved = 1e-3 * m->kernel[k].best_mbs * (reads + 1) / (kernels[k].loads + 1);

	l->kernel[k].moved_gbs = moved;
	l->kernel[k].share_read = moved / read;
	l->kernel[k].share_mix = moved * (reads / read + 1 / fill) / (reads + 1);
}

static void compare(struct limits *l, const struct measurement *m,
		    const struct kernel_choice *choice)
{
	const double read = moved_gbs(l, LIMIT_read);
	const double fill = moved_gbs(l, l->of[LIMIT_fill_nt].width ? LIMIT_fill_nt : LIMIT_fill);
	int k;

	for (k = 0; k < KERNELS && read > 0 && fill > 0; k++)
		if (choice->of[k].compiled)
			compare_kernel(l, k, choice->of[k].compiled->store, m, read, fill);
}

void limits_measure(struct limits *l, const struct arrays *arrays, const struct measurement *m,
		    const struct kernel_choice *choice)
{
	struct runner r;
	element held = 1;
	int limit;

	memset(&r, 0, sizeof(r));
	r.arrays = arrays;
	r.limit = LIMIT_fill;
	r.fill = held;
	r.compiled = variants_limit(0);
	while (!can_run(&r))
		r.compiled++;
	time_of_run(&r);
	l->ntimes = m->ntimes ? m->ntimes : TIMES_DEFAULT;
	for (limit = 0; limit < LIMITS; limit++) {
		r.limit = (enum limit)limit;
		measure_limit(l, &r, &held);
	}
	compare(l, m, choice);
	if (l->wrong)
		verdict_invalid(NOT_VALIDATED, "%zu results of --limits are not as they must be",
				l->wrong);
}

static void write_limit(const struct limits *l, int limit)
{
	json_open(limits_names[limit], '{');
	json_text("width", l->of[limit].width);
	json_count("bytes_per_element", l->of[limit].counted);
	json_count("moved_bytes_per_element", l->of[limit].moved);
	json_number("best_mbs", l->of[limit].timing.best_mbs);
	json_numbers("times_s", l->of[limit].timing.times, l->of[limit].width ? l->ntimes : 0);
	json_close('}');
}

void limits_record(const struct limits *l)
{
	int i;

	if (!l) {
		json_text("limits", NULL);
		return;
	}
	json_open("limits", '{');
	json_truth("ok", l->wrong == 0);
	for (i = 0; i < LIMITS; i++)
		write_limit(l, i);
	json_open("of_limits", '{');
	for (i = 0; i < KERNELS; i++) {
		if (!(l->kernel[i].moved_gbs > 0))
			continue;
		json_open(kernels[i].name, '{');
		json_number("moved_gbs", l->kernel[i].moved_gbs);
		json_number("share_of_read", l->kernel[i].share_read);
		json_number("share_of_read_and_fill", l->kernel[i].share_mix);
		json_close('}');
	}
	json_close('}');
	json_close('}');
}

void limits_print(const struct limits *l)
{
	int i;

	for (i = 0; i < LIMITS; i++)
		if (l->of[i].width)
			printf("Limit %-7s = %10.1f MB/s (%zu bytes per element counted, %zu "
			       "moved; "
			       "%s bits)\n",
			       limits_names[i], l->of[i].timing.best_mbs, l->of[i].counted,
			       l->of[i].moved, l->of[i].width);
	for (i = 0; i < KERNELS; i++)
		if (l->kernel[i].moved_gbs > 0)
			printf("Tuned %-5s moves %.1f GB/s, %.0f %% of reading alone, %.0f %% of "
			       "reading and filling in turn\n",
			       kernels[i].name, l->kernel[i].moved_gbs,
			       100 * l->kernel[i].share_read, 100 * l->kernel[i].share_mix);
}
