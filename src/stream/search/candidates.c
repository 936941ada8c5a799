#include "candidates.h"

#include "../../harness/median.h"

#include <string.h>

/* Bytes; the first is what every member is tried with. */
static const size_t DISTANCES[] = { 1024, 512, 2048, 4096, 8192 };

static const struct {
	enum split split;
	size_t block;
} SPLITS_WORTH[] = {
	{ SPLIT_blocks, 16384 }, { SPLIT_blocks, 262144 }, { SPLIT_loaded, 4096 },
	{ SPLIT_loaded, 16384 }, { SPLIT_dealt, 16384 },   { SPLIT_dealt, 1048576 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int same(const struct variant *x, const struct variant *y)
{
	return x->member == y->member && x->ahead == y->ahead && x->split == y->split &&
	       x->block == y->block;
}

int candidates_add(struct candidates *candidates, const struct variant *variant)
{
	int i;

	for (i = 0; i < candidates->count; i++)
		if (same(&candidates->of[i].variant, variant))
			return i;
	if (i == CANDIDATES_MOST)
		return -1;
	memset(&candidates->of[i], 0, sizeof(candidates->of[i]));
	candidates->of[i].variant = *variant;
	candidates->count++;
	return i;
}

void candidates_add_members(struct candidates *candidates, enum store store)
{
	const struct member *member;
	int i;

	for (i = 0; (member = variants_member(i)) != NULL; i++) {
		struct variant variant = { NULL, 0, SPLIT_whole, 0 };

		variant.member = member;
		if (member->prefetch != PREFETCHED_none)
			variant.ahead = DISTANCES[0];
		if (member->store == store && variants_runs_here(member))
			candidates_add(candidates, &variant);
	}
}

void candidates_add_neighbours(struct candidates *candidates, struct variant variant)
{
	const struct variant origin = variant;
	size_t i;

	for (i = 0; i < COUNT(DISTANCES) && origin.ahead; i++) {
		variant.ahead = DISTANCES[i];
		candidates_add(candidates, &variant);
	}
	variant = origin;
	for (i = 0; i < COUNT(SPLITS_WORTH); i++) {
		variant.split = SPLITS_WORTH[i].split;
		variant.block = SPLITS_WORTH[i].block;
		candidates_add(candidates, &variant);
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
