/*
 * slow: what is timed takes SLOW times as long, on rank SLOW_RANK or node SLOW_NODE alone where
 * one of them is defined, and the others SLOW_OTHERS times; with SLOW_FIRST not in the further
 * measurements of a LOW node.
 *
 * Planted by -include: each reading of the clock waits for SLOW - 1 times what has passed since
 * the reading before it, and never so long that the CPU time of a whole run contradicts the clock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SLOW_OTHERS
#define SLOW_OTHERS 1
#endif

static double slow_found(void)
{
#ifdef SLOW_RANK
	const char *const mpi = getenv("OMPI_COMM_WORLD_RANK"), *const slurm =
									getenv("SLURM_PROCID");
	const char *const rank = mpi ? mpi : slurm;

	return rank && atoi(rank) == SLOW_RANK ? SLOW : SLOW_OTHERS;
#elif defined SLOW_NODE
	const char *const node = getenv("SLURMD_NODENAME");

#ifdef SLOW_FIRST
	char folder[4096];

	if (getcwd(folder, sizeof(folder)) && strstr(folder, "/again-"))
		return 1;
#endif
	return node && strcmp(node, SLOW_NODE) == 0 ? SLOW : SLOW_OTHERS;
#else
	return SLOW;
#endif
}

/* Once: what it takes would be timed. */
static double slow_times(void)
{
	static double times;

	if (times == 0)
		times = slow_found();
	return times;
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

	if (clock != CLOCK_MONOTONIC_RAW)
		return 0;
	wait = (slow_times() - 1) * (last > 0 && wait < 0.1 / SLOW ? wait : 0);
	while (wait > 0 && slow_seconds(clock, t) < now + wait)
		continue;
	last = slow_seconds(clock, t);
	return 0;
}

#define clock_gettime slow_gettime
