/*
 * pinning: do as many threads as requested run on the requested CPUs?
 *
 * Pinning is requested when a thread's affinity is a single core, or
 * when OpenMP binds.  Without a request, a thread that moves or
 * meets another on a core is a fact to know, a warning, not a wrong run; so is a move within a
 * place of several cores.  A runtime that refuses a value of OMP_PLACES and the like goes on
 * without: the threads that may then run anywhere say so, no parser of ours.
 */
#pragma once

#include "../config.h"

/* Finds oversubscribed and wrong-pinning; after the runs. */
LOCAL void pinning_judge(void);

/* Finds wrong-pinning where there are fewer threads than requested, or than CPUs. */
LOCAL void pinning_judge_count(void);

/* Warns of more threads at once than the CPUs of a cgroup's quota: it is noise, as other processes
 * are. */
LOCAL void pinning_judge_quota(int threads);

/* Warns that a thread was where the kernel did not say: sched_getcpu() failed. */
LOCAL void pinning_unknown(void);
