/*
 * judge: what makes a multiplication's figure invalid, in addition to the harness.
 */
#pragma once

#include "blas/blas.h"
#include "measure.h"

#include "../harness/verdict.h"

enum { THREADS_IDLE = REASONS, WRONG_LIBRARY, FORCED_KERNELS };

/* How many threads worked, in the median repetition; 0: the kernel does not say. */
int shape_workers(const struct shape *shape);

/* Finds threads-idle, too-short, too-good; warns where there is no interval. */
void shape_judge(const struct shape *shape, const struct blas *blas, int threads, double stated);

/* Finds forced-kernels: the share is then of the kernels that somebody chose, not the node's. */
void kernels_judge(const struct blas *blas);
