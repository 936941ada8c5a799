#include "clock.h"

#include "error.h"
#include "plural.h"

#include <time.h>

/* So many readings take a tenth of a second, longer than the tick of a clock that is of use. */
enum { CLOCK_STANDS = 1 << 22 };

static double clock_read(clockid_t clock)
{
	struct timespec t = { 0, 0 }; /* where the kernel refuses it */

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends where the clock goes back, or nowhere: a loop that waits for a time would never end. */
double clock_now(void)
{
	static const char hint[] =
		"'dmesg' names its clock source; an LD_PRELOAD may do that, too";
	static __thread double last;
	static __thread int same;
	const double now = clock_read(CLOCK_MONOTONIC_RAW);

	if (now < last)
		die("the clock of this machine went back by %s", hint, seconds_text(last - now));
	same = now > last ? 0 : same + 1;
	if (same == CLOCK_STANDS)
		die("the clock of this machine stands still", hint);
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
