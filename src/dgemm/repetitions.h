/*
 * repetitions: of a multiplication: what each saw, which of a shape's multiplications count, and
 * what they say together.
 */
#pragma once

#include "ceiling/ceiling.h"
#include "validate.h"

#include "../harness/evidence/workers.h"
#include "../harness/order_statistics.h"
#include "../harness/rate.h"

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

/* Whether it counts (rate.h), as far as can be seen: none of its threads lost more than 5 % of its
 * time, what they could do before and after was the same within 2 %, and per cycle within 3 % of
 * the most that the shape saw.  A process on the other hardware thread of a core takes of the
 * second and third alone: the clock stays. */
int repetition_is_clean(const struct shape *shape, int i);

int repetitions_clean(const struct shape *shape);

/* The shares of what was attainable, in percent: of the clean ones; of all, where none is. */
void repetitions_share(struct order_statistics *share, const struct shape *shape);

/* Whether that interval can be stated: of six clean ones and within 2 points. */
int repetitions_share_is_known(const struct shape *shape);

/* GFlop/s: the best of the clean ones, or a lower bound. */
void repetitions_rate(struct rate *rate, const struct shape *shape);

/* The median, over the repetitions that count, of what ASK returns. */
double repetitions_median(const struct shape *shape,
			  double (*figure_of)(const struct repetition *));
