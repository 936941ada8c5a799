/*
 * points: what the ladder measured: sizes, rounds, and six figures for each.
 */
#pragma once

#include "rungs.h"

enum points {
	LATENCY_2M, /* ns per load, one thread, pages of 2 MiB */
	LATENCY_4K, /* pages of 4 KiB, once per octave */
	READ_ONE,   /* GB/s of one thread */
	TRIAD_ONE,
	READ_ALL, /* GB/s of all threads together, each in its own memory */
	TRIAD_ALL,
	POINTS
};

enum { ROUNDS_LEAST = 3, ROUNDS_MAX = 6 }; /* planned; where there is time */

struct ladder {
	int count;               /* sizes, rising */
	size_t bytes[RUNGS_MAX]; /* the working set of one thread */
	size_t most[POINTS];     /* the largest working set of each; 0: not measured */
	int rounds, threads;
	double of[POINTS][ROUNDS_MAX][RUNGS_MAX]; /* 0: not measured */
};
