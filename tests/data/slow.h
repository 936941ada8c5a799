/*
 * slow: what is timed takes SLOW times as long, on rank SLOW_RANK alone where that is defined.
 *
 * Planted by -include: each reading of the clock waits for SLOW - 1 times what has passed since
 * the reading before it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <time.h>

static int slow_is_here(void)
{
#ifdef SLOW_RANK
	const char *const mpi = getenv("OMPI_COMM_WORLD_RANK"), *const slurm =
									getenv("SLURM_PROCID");
	const char *const rank = mpi ? mpi : slurm;

	return rank && atoi(rank) == SLOW_RANK;
#else
	return 1;
#endif
}

static double slow_seconds(clockid_t clock, struct timespec *t)
{
	clock_gettime(clock, t);
	return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

static int slow_gettime(clockid_t clock, struct timespec *t)
{
	static __thread double last;
	double now = slow_seconds(clock, t), wait = now - last;

	if (clock != CLOCK_MONOTONIC)
		return 0;
	wait = (SLOW - 1) * (last > 0 && wait < 0.05 ? wait : 0);
	while (slow_is_here() && slow_seconds(clock, t) < now + wait)
		continue;
	last = slow_seconds(clock, t);
	return 0;
}

#define clock_gettime slow_gettime
