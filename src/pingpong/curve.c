#include "curve.h"

#include "../harness/order_statistics.h"

enum { CURVE_SIZES_MAX = 64, LARGE = 65536, LARGE_LEAST = 3 };

static const double OFF_BOTH = 1.25;

static double asymptotic(const size_t *sizes, const double *times, int count)
{
	static double slopes[CURVE_SIZES_MAX * CURVE_SIZES_MAX / 2];
	int i, j, large = 0, found = 0;
	double slope;

	for (i = 0; i < count; i++) {
		large += sizes[i] >= LARGE;
		for (j = i + 1; sizes[i] >= LARGE && j < count; j++)
			slopes[found++] =
				(times[j] - times[i]) / ((double)sizes[j] - (double)sizes[i]);
	}
	if (large < LARGE_LEAST)
		return 0;
	slope = median(slopes, found);
	return slope > 0 ? 1 / slope : 0;
}

static double half_way(const size_t *sizes, const double *times, int count, double half)
{
	int i;

	for (i = 1; i < count; i++) {
		const double from = (double)sizes[i - 1], to = (double)sizes[i];
		const double slope = (times[i] - times[i - 1]) / (to - from);

		if (to / times[i] < half)
			continue;
		if (from / times[i - 1] >= half || slope * half >= 1)
			return 0;
		return half * (times[i - 1] - from * slope) / (1 - half * slope);
	}
	return 0;
}

/* By what the time grows from size i to its double; 0: the next one is not its double. */
static double growth(const size_t *sizes, const double *times, int count, int i)
{
	if (i < 0 || i + 1 >= count || !sizes[i] || sizes[i + 1] != 2 * sizes[i])
		return 0;
	return times[i + 1] / times[i];
}

static void find_knees(struct curve *c, const size_t *sizes, const double *times, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		const double before = growth(sizes, times, count, i - 1);
		const double here = growth(sizes, times, count, i);
		const double after = growth(sizes, times, count, i + 1);
		const double most = before > after ? before : after;
		const double least = before < after ? before : after;

		if (before <= 0 || here <= 0 || after <= 0 || c->knees_count == KNEES_MAX)
			continue;
		if (here > OFF_BOTH * most || here * OFF_BOTH < least)
			c->knees[c->knees_count++] = sizes[i + 1];
	}
}

void curve_fit(struct curve *c, const size_t *sizes, const double *times, int count)
{
	memset(c, 0, sizeof(*c));
	c->latency = times[0];
	c->bandwidth = asymptotic(sizes, times, count);
	if (c->bandwidth > 0)
		c->n_half = half_way(sizes, times, count, c->bandwidth / 2);
	find_knees(c, sizes, times, count);
}
