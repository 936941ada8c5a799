#include "tune.h"

#include "../../harness/clock.h"
#include "../../harness/job/ranks.h"
#include "../../harness/plural.h"

enum { TRIED_MOST = 256, LLC_TIMES = 2 };

static const size_t AHEAD[] = { 512, 1024, 4096 }; /* bytes, of variants that prefetch */

struct tried {
	struct variant variant;
	double seconds; /* the shortest; 0: not run yet */
};

/* Those that run on this CPU. */
static int tune_list(struct tried tried[TRIED_MOST])
{
	const struct tuned_kernel *compiled;
	int i, count = 0;
	size_t d;

	memset(tried, 0, TRIED_MOST * sizeof(*tried));
	for (i = 0; (compiled = variants_compiled(i)) != NULL; i++) {
		const size_t distances =
			compiled->prefetch == PREFETCHED_none ? 1 : sizeof(AHEAD) / sizeof(*AHEAD);

		for (d = 0; d < distances && variants_runs_here(compiled); d++) {
			if (count == TRIED_MOST)
				return count;
			tried[count].variant.compiled = compiled;
			tried[count++].variant.ahead = distances > 1 ? AHEAD[d] : 0;
		}
	}
	return count;
}

static double tune_moment(const struct variant *variant, int kernel, const struct arrays *arrays,
			  size_t parts)
{
	static size_t next;
	double start;

	variants_run_slice(variant, kernel, arrays, next++ % parts, parts);
	start = clock_now();
	variants_run_slice(variant, kernel, arrays, next++ % parts, parts);
	return clock_now() - start;
}

/* Keeps the best for one kernel; the first is run even where the time is over. */
static void tune_kernel(struct variant *best, int kernel, const struct arrays *arrays,
			size_t parts, double until)
{
	static struct tried tried[TRIED_MOST];
	const int count = tune_list(tried);
	int i, runs = 0, shortest = 0;
	char name[VARIANT_NAME_MAX];

	do {
		const int turn = runs % (2 * count);
		struct tried *const t = &tried[turn < count ? turn : 2 * count - 1 - turn];
		const double seconds = tune_moment(&t->variant, kernel, arrays, parts);

		if (t->seconds == 0 || seconds < t->seconds)
			t->seconds = seconds;
		runs++;
	} while (clock_now() < until);
	for (i = 1; i < count && i < runs; i++)
		if (tried[i].seconds < tried[shortest].seconds)
			shortest = i;
	*best = tried[shortest].variant;
	if (ranks_me() == 0)
		fprintf(stderr, "membw: tuned %s: %s, the best of %d variants in %d run%s\n",
			kernels[kernel].name, variants_name(best, name),
			runs < count ? runs : count, runs, plural(runs));
}

void tune(struct kernel_choice *choice, const struct arrays *arrays, size_t llc_bytes,
	  double seconds)
{
	const double moved = 2.0 * (double)arrays->size * sizeof(element);
	const size_t parts = (size_t)(moved / (LLC_TIMES * (double)llc_bytes + 1));
	double until = clock_now();
	int k, count = 0;

	for (k = 0; k < KERNELS; k++)
		count += variants_has(k);
	for (k = 0; k < KERNELS; k++) {
		memset(&choice->of[k], 0, sizeof(choice->of[k]));
		if (!variants_has(k))
			continue;
		until += seconds / count;
		tune_kernel(&choice->of[k], k, arrays, parts ? parts : 1, until);
	}
	choice->tuned = 1;
	choice->from = "search";
}
