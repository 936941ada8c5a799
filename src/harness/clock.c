#include "config.h"

#include "clock.h"

#include <time.h>

double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
