/*
 * core_pair: how far apart the nearest two cores are, now.
 *
 * The state of a virtual machine: where its host moves a virtual core, the nearest pair answers
 * in 107 ns in place of 27, and the bandwidth follows.  Two threads of the team play, by
 * compare-and-swap on one line, for 20 ms at most.
 */
#pragma once

#include "../config.h"

struct core_pair {
	int cpus[2];
	double ns, low_ns, high_ns; /* one way: median and its 95 % interval; 0: not measured */
};

/* After threads_start().  Not measured where there is one core or one thread, more threads than
 * CPUs, or another process of the job on this node. */
LOCAL void core_pair_measure(struct core_pair *pair);

/* The same, seen several times between: for a state that comes and goes within a run. */
struct core_pair_between {
	int looks;
	double least_ns, most_ns;
};

/* One more look; not measured, none. */
LOCAL void core_pair_look(struct core_pair_between *between);

/* Writes it under that name, null where there was no look. */
LOCAL void core_pair_write_between(const char *name, const struct core_pair_between *between);

/* By how much the largest of them exceeds the smallest, 1 where the first two are missing. */
LOCAL double core_pair_ratio(const struct core_pair *before, const struct core_pair *after,
			     const struct core_pair_between *between);

/* Writes it under that name, null where it was not measured. */
LOCAL void core_pair_write(const char *name, const struct core_pair *pair);
