#include "curve.h"

static const double CURVE_WAVE = 0.03;

/* Pool adjacent violators: the monotone sequence next to VALUES in the least squares. */
static void curve_rise(double *values, int count)
{
	double mean[CURVE_POINTS_MAX];
	int size[CURVE_POINTS_MAX], blocks = 0, i, b;

	for (i = 0; i < count; i++) {
		mean[blocks] = values[i];
		size[blocks++] = 1;
		while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
			const int both = size[blocks - 2] + size[blocks - 1];

			mean[blocks - 2] = (mean[blocks - 2] * size[blocks - 2] +
					    mean[blocks - 1] * size[blocks - 1]) /
					   both;
			size[blocks - 2] = both;
			blocks--;
		}
	}
	for (i = b = 0; b < blocks; b++)
		while (size[b]-- > 0)
			values[i++] = mean[b];
}

/* Y where X first reaches WANTED, by a straight line; 0 where it never does. */
static double curve_where(const double *x, const double *y, int count, double wanted)
{
	int i;

	for (i = 1; i < count; i++)
		if (x[i] >= wanted && x[i] > x[i - 1])
			return y[i - 1] +
			       (y[i] - y[i - 1]) * (wanted - x[i - 1]) / (x[i] - x[i - 1]);
	return 0;
}

void curve_read(struct curve_figures *figures, const struct curve_point *points, int count)
{
	double gbs[CURVE_POINTS_MAX], ns[CURVE_POINTS_MAX], most = 0;
	int i;

	*figures = (struct curve_figures){ 0, 0, 0, 0 };
	for (i = 0; i < count; i++) {
		gbs[i] = points[i].gbs;
		ns[i] = points[i].ns;
		if (gbs[i] < (1 - CURVE_WAVE) * most)
			figures->has_wave_form = 1;
		most = gbs[i] > most ? gbs[i] : most;
	}
	curve_rise(ns, count);
	figures->max_gbs = most;
	figures->ns_at_half = curve_where(gbs, ns, count, most / 2);
	figures->gbs_at_2x = curve_where(ns, gbs, count, 2 * ns[0]);
}
