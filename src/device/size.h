/*
 * size: arrays that lie in the memory of the card, proven by measuring, as residency.h has it.
 *
 * What a card declares of its caches is a hint: an MI300A has 256 MiB of which its driver says
 * nothing.  Triad is timed at sizes that double until the three arrays together are twice what the
 * caches can be, and Triad takes so long that a launch weighs nothing.
 */
#pragma once

#include "kernels.h"

#include "../harness/residency/residency.h"

struct size_found {
	enum residency known;
	size_t bytes, begins,
		reach; /* of the three arrays; the first size of the plateau, 0: none */
	struct residency_curve curve;
};

/* Takes the memory and chooses the size; GIVEN elements, 0: as many as it takes. */
void size_find(struct size_found *found, struct arrays *arrays, size_t given);

void size_judge(const struct size_found *found, const struct arrays *arrays);

void size_write(const struct size_found *found);
