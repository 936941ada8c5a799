#include "clock.h"

#include <time.h>

static double clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

double clock_thread(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

double clock_process(void)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

double clock_tick(void)
{
	double smallest = 1.0;
	int i;

	for (i = 0; i < 100; i++) {
		const double before = clock_now();
		double after = clock_now();

		while (after <= before)
			after = clock_now();
		if (after - before < smallest)
			smallest = after - before;
	}
	return smallest;
}
