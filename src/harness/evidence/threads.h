/*
 * threads: where the OpenMP threads really run.
 *
 * Each thread notes the CPU under it at start and around every kernel, outside
 * the timed part.  Affinity is each thread's own: what a pinning tool or
 * OMP_PLACES really gave it, not what was intended.
 */
#ifndef MEMBW_THREADS_H
#define MEMBW_THREADS_H

#include "../machine/cpuset.h"

struct thread_seen {
	struct cpuset affinity;
	struct cpuset cpus; /* every CPU it was seen on */
	int cpu;            /* the first of them */
	int now;            /* the latest */
	int moved;
};

/* Starts the threads and asks for their affinity. */
void threads_start(void);

/* Notes where the threads are, and whether two of them share a core. */
void threads_sample(void);

/* Samples in which two threads were on one core. */
int threads_shared_core(void);

int threads_count(void);
const struct thread_seen *threads_seen(int thread);

/* All CPUs that one thread or another may run on. */
const struct cpuset *threads_cpus(void);

/* Writes "threads_on" of the record. */
void threads_write(void);

#endif
