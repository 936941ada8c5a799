#include "candidates.h"

#include "../../harness/order_statistics.h"

/* Bytes; the first is what every one is tried with. */
static const size_t DISTANCES[] = { 1024, 512, 2048, 4096, 8192 };

enum { DISTANCES_COUNT = sizeof(DISTANCES) / sizeof(*DISTANCES) };

static int same(const struct variant *x, const struct variant *y)
{
	return x->compiled == y->compiled && x->ahead == y->ahead;
}

static void add_candidate(struct candidates *candidates, const struct variant *variant)
{
	int i;

	for (i = 0; i < candidates->count; i++)
		if (same(&candidates->of[i].variant, variant))
			return;
	if (i == CANDIDATES_MOST)
		return;
	memset(&candidates->of[i], 0, sizeof(candidates->of[i]));
	candidates->of[i].variant = *variant;
	candidates->count++;
}

void candidates_add_store(struct candidates *candidates, enum store store)
{
	const struct tuned_kernel *compiled;
	int i;

	for (i = 0; (compiled = variants_compiled(i)) != NULL; i++) {
		struct variant variant;

		variant.compiled = compiled;
		variant.ahead = compiled->prefetch != PREFETCHED_none ? DISTANCES[0] : 0;
		if (compiled->store == store && variants_runs_here(compiled))
			add_candidate(candidates, &variant);
	}
}

void candidates_add_distances(struct candidates *candidates, struct variant variant)
{
	int i;

	for (i = 0; i < DISTANCES_COUNT && variant.compiled->prefetch != PREFETCHED_none; i++) {
		variant.ahead = DISTANCES[i];
		add_candidate(candidates, &variant);
	}
}

void ratios_add(struct ratios *ratios, double ratio)
{
	double sorted[ROUNDS_MOST];

	if (ratios->rounds == ROUNDS_MOST)
		return;
	ratios->of[ratios->rounds++] = ratio;
	memcpy(sorted, ratios->of, (size_t)ratios->rounds * sizeof(*sorted));
	ratios->median = median(sorted, ratios->rounds);
}
