#include "delay.h"

#include "../harness/clock.h"

/* Of order 2^62 modulo 2^64.  L'Ecuyer, Tables of linear congruential generators, 1999. */
static volatile word delay_factor = 6364136223846793005ULL;
static long steps_of_delay = 100;
static double step_seconds, seconds_doubled;

static word power(word base, word exponent)
{
	word result = 1;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result *= base;
		base *= base;
	}
	return result;
}

static NOINLINE word take_steps(word x, long steps)
{
	const word factor = delay_factor;
	long i;

	for (i = 0; i < steps; i++)
		x *= factor;
	return x;
}

NOINLINE word delay(word x)
{
	return take_steps(x, steps_of_delay);
}

word delays(word count)
{
	return power(delay_factor, count * (word)steps_of_delay);
}

/* The least of several: what disturbs makes it longer. */
static double seconds_of(long steps)
{
	static volatile word result;
	double least = 1e9;
	int i;

	for (i = 0; i < 9; i++) {
		const double start = clock_now();
		double seconds;

		result = take_steps(1, steps);
		seconds = clock_now() - start;
		least = seconds < least ? seconds : least;
	}
	(void)result;
	return least;
}

/* Measured however short a step is: clang multiplies by the eighth power of the factor; by eight
 * times the steps, since a formula takes no more than a tick of the clock or two.  Again where it
 * seems to be one: other processes may have disturbed each of the short ones. */
void delay_calibrate(double seconds)
{
	const long steps = 200000; /* some tenths of a millisecond */
	int again = 5;

	do {
		const double once = seconds_of(steps);

		step_seconds = once / (double)steps;
		seconds_doubled = once > 0 ? 2 * seconds_of(8 * steps) / (8 * once) : 0;
	} while (seconds_doubled < DELAY_DOUBLED && --again);
	steps_of_delay = step_seconds > 0 ? (long)(seconds / step_seconds + 0.5) : 1;
	if (steps_of_delay < 1)
		steps_of_delay = 1;
	if (steps_of_delay > 1000000)
		steps_of_delay = 1000000;
}

long delay_steps(void)
{
	return steps_of_delay;
}

double delay_seconds(void)
{
	return step_seconds * (double)steps_of_delay;
}

double delay_doubled(void)
{
	return seconds_doubled;
}
