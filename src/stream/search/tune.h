/*
 * tune: each variant of a kernel for a moment; the best is kept.
 *
 * A moment is two runs over a part of the arrays that moves twice what the last-level caches hold;
 * the second one is timed, so that no variant pays for what the one before it left in the caches.
 * All variants are run in turn, forwards and backwards, until the time is over; the shortest time
 * of a variant counts.  A kernel that has no variant stays Standard.
 */
#pragma once

#include "kernel_choice.h"

/* Of all kernels together SECONDS; the arrays hold anything afterwards.  What was kept is said on
 * stderr. */
void tune(struct kernel_choice *choice, const struct arrays *arrays, size_t llc_bytes,
	  double seconds);
