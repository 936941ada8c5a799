/*
 * fits: overheads over bytes and over threads.
 *
 * Of private, firstprivate, copyprivate and copyin: a + b x bytes, b also as GB/s per thread.  Of
 * constructs without an array, from three counts of threads on: a + b log2(threads).  Weighted
 * least squares; a weight is 1 / (half of the interval, at least 2 % of the figure)^2.
 */
#pragma once

#include "figures.h"

/* Of COUNT overheads with their figures. */
void fits_print(const struct overhead *overheads, const struct figure *figures, int count);
void fits_write(const struct overhead *overheads, const struct figure *figures, int count);
