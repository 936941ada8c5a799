/*
 * shape: the search of how a kernel is best launched on this card.
 *
 * One parameter moves Triad by a tenth (in SuperBench's own log 7,414 GB/s with 256 work-items a
 * group, 6,730 with 1,024), so it is searched, and the record says what was found: all shapes by
 * Triad and by read, the others' among the best of Triad.  The figures are of other launches.
 */
#pragma once

#include "kernels.h"

struct shapes {
	struct shape of[KERNELS];
	double triad_gbs[2]; /* of the worst and the best shape */
	int tried;
};

/* LOCAL and WIDTH: given, 0: searched. */
void shapes_find(struct shapes *shapes, struct arrays *arrays, int local, int width);

void shapes_write(const struct shapes *shapes);
