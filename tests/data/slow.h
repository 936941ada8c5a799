/*
 * slow: what is timed takes SLOW times as long.
 *
 * Planted by -include: each reading of the clock waits for SLOW - 1 times what has passed since
 * the reading before it, and never so long that the CPU time of a whole run contradicts the clock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <time.h>

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
	wait = (SLOW - 1) * (last > 0 && wait < 0.1 / SLOW ? wait : 0);
	while (wait > 0 && slow_seconds(clock, t) < now + wait)
		continue;
	last = slow_seconds(clock, t);
	return 0;
}

#define clock_gettime slow_gettime
