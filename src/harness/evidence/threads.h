/*
 * threads: where the OpenMP threads really run.
 *
 * Each thread notes the CPU under it at start and around every kernel, outside
 * the timed part.  Affinity is each thread's own: what a pinning tool or
 * OMP_PLACES really gave it, not what was intended.
 */
#pragma once

#include "../machine/cpuset.h"
#include "lost_time.h"

enum { THREADS_MAX = 1 << 16 };

struct thread_seen {
	struct cpuset affinity;
	struct cpuset cpus; /* every CPU it was seen on */
	int cpu;            /* the first of them, -1: the kernel does not say */
	int now;            /* the latest */
	int moved;
	int unknown; /* once at least the kernel did not say */
	struct lost_time lost_time;
};

/* A quota leaves so many threads (1); before threads_start(). */
LOCAL void threads_at_least(int count);

/* Starts the threads and asks for their affinity. */
LOCAL void threads_start(void);

/* From now on there are COUNT threads, for a program that compares counts of them: starts them
 * and asks for their affinity, and forgets what was noted of other teams. */
LOCAL void threads_team(int count);

/* Whether it is "4" or "4,2". */
LOCAL int threads_variable_is_valid(const char *value);

/* How many there shall be: threads_team(), else OMP_NUM_THREADS; 0: neither. */
LOCAL int threads_requested(void);

/* How many CPUs the process may use, before its runtime takes some away; of a quota the whole. */
LOCAL int threads_available(void);

/* As many as that, or as there are, if that is more. */
LOCAL int threads_most(void);

/* Again as at the start: what moved them before does not count. */
LOCAL void threads_look(void);

/* Notes where the threads are, what they lost, and whether two of them share a core. */
LOCAL void threads_sample(void);

/* Between the last two samples: the longest time that a thread was ready and did not run. */
LOCAL double threads_lost_seconds(void);

/* Samples in which two threads were on one core. */
LOCAL int threads_shared_core(void);

LOCAL int threads_count(void);
LOCAL const struct thread_seen *threads_seen(int thread);

/* All CPUs that one thread or another may run on. */
LOCAL const struct cpuset *threads_cpus(void);

/* Writes "threads_on" of the record. */
LOCAL void threads_write(void);
