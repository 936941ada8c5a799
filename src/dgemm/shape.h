/*
 * shape: a multiplication, the repetitions of it, and what each saw.
 */
#pragma once

#include "ceiling/ceiling.h"
#include "validate.h"

#include "../harness/evidence/workers.h"

enum { REPETITIONS_MAX = 1000 };

enum shape_kind {
	SQUARE, /* m = n = k */
	K192,   /* nodeperf's, the update of HPL: k = 192 */
	SHAPES
};

/* One timing: CALLS multiplications, and what the threads did meanwhile. */
struct repetition {
	struct workers workers;
	struct ceiling ceiling; /* the mean of before and after; per cycle, the lower of them */
	double gflops;          /* by the wall clock */
	double percent;         /* of attainable, by the CPU time of the busiest thread */
	double moved;           /* after in parts of before, less 1 */
	double other_cpu_s;     /* CPU seconds that other processes took of our CPUs meanwhile */
};

struct shape {
	enum shape_kind kind;
	size_t m, n, k;
	int calls, count;
	struct repetition *repetitions;
	struct wrong wrong;
};
