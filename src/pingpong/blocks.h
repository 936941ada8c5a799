/*
 * blocks: how often a round trip is repeated, and what is said of it.
 *
 * One reading of the clock times a block of round trips, long enough for the clock.  Blocks go
 * on until the 95 % interval of their median is within 2 % of it, or the time for this pair is
 * over; a fifth of that time at least, so that one moment is no figure.  Before that, blocks that
 * are thrown away until three in a row agree within 2 %: the frequency has settled.
 *
 * A message of a gigabyte takes seconds for a block: where eleven would take more than five
 * seconds, six must do, the fewest that have such an interval.
 *
 * Blocks in which a side lost its CPU to other processes are left out: with two fifths of them the
 * median of all exceeds five sixths of the clean ones, and its interval does not know.
 * Where they are more than half the figure is of all, and somebody else's.  What a busy moment
 * did to other blocks the median passes over, or the interval gets wide, and that is said.
 */
#pragma once

#include "../harness/order_statistics.h"

enum { BLOCKS_MAX = 4000, BLOCKS_LEAST = 11, BLOCKS_FEWEST = 6 };

/* Seconds: a look that takes longer is a long one: fewer blocks are enough, and it is no moment.
 */
#ifndef LONG_LOOK /* a test cannot wait for it */
#define LONG_LOOK 5.0
#endif

struct blocks {
	int count;       /* those that were timed */
	int interrupted; /* of them, those in which a side lost its CPU */
	long trips;      /* per block */
	int warm;        /* blocks thrown away */
	int settled;     /* the interval is within 2 % */
	double shortest; /* seconds of the shortest block as the clock read it */
	struct order_statistics round_trip; /* seconds: block / trips */
	double mean; /* of all blocks, disturbed ones too: what programs with one clock print */
};

/* One block of so many round trips; its seconds, and whether a side lost its CPU in it. */
typedef double block_run(void *side, long trips, int *interrupted);

/* When to stop: all in company go on to the end, or the last would have the machine alone. */
enum patience { UNTIL_SETTLED, WHOLE_BUDGET };

/* Runs blocks of RUN for so many seconds at most.  Threads may do so at the same time. */
void blocks_measure(struct blocks *blocks, block_run *run, void *side, double budget,
		    enum patience patience);

/* The interval becomes wide enough to hold the median of another look. */
void blocks_widen(struct blocks *blocks, double median);

/* Whether other processes used one of the two CPUs in most blocks. */
int blocks_lost(const struct blocks *blocks);
