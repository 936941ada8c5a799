/*
 * lost_time: how long a thread was ready to run, but did not.
 *
 * The kernel counts it per thread, in ns, in /proc/thread-self/schedstat.  It is the one figure
 * that distinguishes a thread that lost its CPU from one that waits: an OpenMP thread that
 * spins in a barrier runs, and one that sleeps there is not ready, so neither counts, whatever
 * its CPU time is.  Where the kernel does not count, or there may be fewer open files than
 * threads, an involuntary switch (getrusage) and a CPU time (CLOCK_THREAD_CPUTIME_ID) below the
 * wall's say it, less exactly; where neither is known, the time is 0 and the basis says so.
 *
 * A thread that waits for a page of its own, which lay in swap, is not ready either; where the
 * page is only compressed in memory (zram), it even runs.  The kernel counts such faults
 * (ru_majflt): between two notes with one all of the time is lost.
 */
#pragma once

#include "../config.h"

struct lost_time {
	int file;         /* schedstat of the thread, -1: none */
	double wall, cpu; /* seconds, at the last note */
	double ready;     /* seconds ready and not running, since the thread began */
	long switches;    /* involuntary ones */
	long faults;      /* major ones: pages that were read from swap or a file */
	double lost;      /* seconds between the last two notes */
};

/* By the thread itself, first and after that; LOST is for what lies between two notes. */
LOCAL void lost_time_start(struct lost_time *lost_time);
LOCAL void lost_time_note(struct lost_time *lost_time);

/* How often this thread has lost its CPU to other processes: for what is too short to be counted
 * in time. */
LOCAL long lost_time_switches(void);

/* "schedstat" or "switches": what the answer rests on here. */
LOCAL const char *lost_time_basis(void);
