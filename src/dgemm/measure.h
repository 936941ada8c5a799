/*
 * measure: C += A B by the library, between two readings of the ceiling, repeated.
 */
#ifndef MEMBW_DGEMM_MEASURE_H
#define MEMBW_DGEMM_MEASURE_H

#include "ceiling/ceiling.h"
#include "matrices.h"
#include "validate.h"

#include "../harness/evidence/workers.h"

enum { REPETITIONS_MAX = 1000 };

enum shape_kind {
	SQUARE, /* m = n = k */
	K192,   /* nodeperf's, the update of HPL: k = 192 */
	SHAPES
};

extern const char *const shape_names[SHAPES];

/* One timing: CALLS multiplications, and what the threads did meanwhile. */
struct repetition {
	struct workers workers;
	struct ceiling ceiling; /* the mean of before and after; per cycle, the lower of them */
	double gflops;          /* by the wall clock */
	double percent;         /* of attainable, by the CPU time of the busiest thread */
	double moved;           /* after in parts of before, less 1 */
	double others;          /* CPU seconds that other processes took of our CPUs meanwhile */
};

struct shape {
	enum shape_kind kind;
	size_t m, n, k;
	int calls, count;
	struct repetition *repetitions;
	struct wrong wrong;
};

/* Floating-point operations of all calls of a repetition: 2 m n k each. */
double shape_flops(const struct shape *shape);

/* Sizes it: N where it is not 0; else by GFLOPS, what is attainable, and by the caches and the
 * memory that there are. */
void measure_size(struct shape *shape, enum shape_kind kind, size_t n, double gflops);

/* Measures and validates it, in so many REPETITIONS.  0: for two seconds and more, until the
 * share of attainable is known within half a point, for MAX_SECONDS at most. */
void measure_shape(struct shape *shape, int repetitions, double max_seconds);

#endif
