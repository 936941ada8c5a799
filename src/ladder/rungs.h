/*
 * rungs: the sizes of the working set: few where nothing is expected, more near declared caches;
 * and what is measured at each: rounds of six figures.
 */
#pragma once

#include "../harness/machine/llc.h"

enum { RUNGS_MAX = 160 };

/* The data caches that the CPU declares. */
struct declared {
	int count;                    /* levels of one thread, 0: nothing is declared */
	size_t bytes[LLC_LEVELS_MAX]; /* of each */
	size_t last;                  /* the last level's, 0: not known */
	double last_levels;           /* last-level caches of all threads, at least 1 */
};

/* Of a thread on CPU, and of all threads on CPUS. */
void declared_read(struct declared *declared, int cpu, const struct cpuset *cpus);

/* The largest working set of a thread: eight times its last level, but no more than twice of where
 * memory begins (0: not known), and at least 256 MiB, since a cache may be declared too small. */
size_t rungs_most(size_t last_level, size_t memory_begins);

/* Sizes from 4 KiB to MOST, rising, multiples of 512 B, each octave at 4 KiB times a power of 2.
 * Per octave 8 near a declared cache, else 4 up to 2 MiB, 2 up to twice the last level, 1 beyond;
 * FEW: half as many, and 1 from 2 MiB on.  Returns how many. */
int rungs_choose(size_t bytes[RUNGS_MAX], const struct declared *declared, size_t most, int few);

/* The largest size up to which chases of ROUNDS rounds take no longer than so many seconds. */
size_t rungs_in_time(const size_t *bytes, int count, int rounds, double seconds);

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
