/*
 * in_memory: which sizes of arrays lie in memory, by the ladder's own points (residency.h).
 *
 * A size N of all threads together is proven by three things together, since a flat stretch alone
 * proves nothing:
 *	Triad at N/2, N and 2N agrees within a tenth, the best of the rounds of each, and within
 *	what the rounds showed;
 *	sizes up to eight times the largest cache known, declared or found, were measured, and none
 *	above N is slower by a quarter;
 *	a load at N takes at least twice as long as in the last cache found.
 * It is contradicted where Triad at a larger size is slower by a quarter or more, the best of its
 * rounds below the middle of those of N.
 *
 * A pure function of the points.
 */
#pragma once

#include "../harness/memory/residency.h"
#include "levels.h"

/* Of the working set of each thread at that rung. */
enum residency residency_at(int rung, const struct ladder *ladder, const struct level *levels,
			    int count, const struct declared *declared);

/* Whether sizes were measured up to eight times the largest cache known; its bytes, of all
 * threads together. */
int residency_reaches(const struct ladder *ladder, const struct level *levels, int count,
		      const struct declared *declared, double *largest_cache);
