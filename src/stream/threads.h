/*
 * threads: where the OpenMP threads really run.
 *
 * Each thread notes the CPU under it at start and around every kernel, outside
 * the timed part.  Affinity is each thread's own: what a pinning tool or
 * OMP_PLACES really gave it, not what was intended.
 */
#ifndef MEMBW_THREADS_H
#define MEMBW_THREADS_H

#include "cpuset.h"

struct thread_seen {
	struct cpuset affinity;
	struct cpuset cpus; /* every CPU it was seen on */
	int cpu;            /* the first of them */
	int moved;
};

/* Starts the threads and asks for their affinity. */
void threads_start(void);

void threads_sample(void);

int threads_count(void);
const struct thread_seen *threads_seen(int thread);

/* All CPUs that one thread or another may run on. */
const struct cpuset *threads_cpus(void);

#endif
