/*
 * ceiling: what the threads of this process could do at most at this moment, together.
 *
 * Each thread runs the fastest loop of loops.h and the chain of cpu_clock.h in turn, in pieces of
 * some 100 us; the median piece of each counts.  That is the clock, the licence level of wide
 * instructions and the power cap of the moment, without counters and without root; a busy
 * neighbour hits single pieces.
 */
#pragma once

#include "../../harness/config.h"

struct ceiling {
	double gflops;    /* of all threads together */
	double ghz;       /* median over the threads, 0: not known */
	double per_cycle; /* flop of all threads in parts of all their cycles, 0: not known */
	double slowest;   /* the slowest thread, in parts of the median one */
};

/* For so many threads, whatever OMP_NUM_THREADS says: what the node could do does not depend on
 * who was left out.  Chooses the loop: of those that this CPU has, the one that is fastest. */
void ceiling_start(int threads);

void ceiling_measure(struct ceiling *ceiling);

/* GFlop/s: the highest ceiling of all measurements of this run. */
double ceiling_most(void);

const char *ceiling_loop(void);

/* By the last measurement: what each thread did per cycle, 0: not known; and the nearest that a
 * CPU can be built for, whole instructions per cycle. */
double ceiling_flops_per_cycle(void);
double ceiling_nearest_flops_per_cycle(void);

/* Writes "ceiling_threads" of the record: of the last measurement, thread by thread. */
void ceiling_write(void);
