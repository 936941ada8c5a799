/*
 * measure: C += A B by the library, between two readings of the ceiling, repeated.
 */
#pragma once

#include "repetitions.h"

extern const char *const shape_names[SHAPES];

/* Floating-point operations of all calls of a repetition: 2 m n k each. */
double shape_flops(const struct shape *shape);

/* Sizes it: N where it is not 0; else by GFLOPS, what is attainable, and by the caches and the
 * memory that there are. */
void measure_size(struct shape *shape, enum shape_kind kind, size_t n, double gflops);

/* Measures and validates it, in so many REPETITIONS.  0: for two seconds and more, until the
 * share of attainable is known within a point, for MAX_SECONDS at most. */
void measure_shape(struct shape *shape, int repetitions, double max_seconds);
