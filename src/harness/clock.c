#include "clock.h"

#include "error.h"
#include "plural.h"

#include <time.h>

static double clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends where the clock goes back: a loop that waits for a time would never end. */
double clock_now(void)
{
	static __thread double last;
	const double now = clock_read(CLOCK_MONOTONIC_RAW);

	if (now < last)
		die("the clock of this machine went back by %s",
		    "'dmesg' names its clock source; an LD_PRELOAD may do that, too",
		    seconds_text(last - now));
	return last = now;
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
