/*
 * Made-up curves through src/loaded/curve.c: a queue's latency over its load (M/D/1), with a knee
 * that is known, noise of each point, and with a wave form where asked.
 *
 * loaded_curves SERVICE NOISE WAVE SEED CURVES ROUNDS: of each of CURVES measurements of ROUNDS
 * rounds "knee low high saturated" on a line, as sweep.c makes them: median, least, largest.
 */
#define LOCAL static __attribute__((unused))
#include "../../src/harness/harness.c"

#include "../../src/loaded/curve.c"

#include <math.h>

static const double RATES_OF[] = { 0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1 };
enum { POINTS = 11, ROUNDS_OF = 16 };

static double normal(void)
{
	const double u = (rand() + 1.0) / (RAND_MAX + 2.0), v = rand() / (RAND_MAX + 1.0);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

int main(int argc, char **argv)
{
	const double service = atof(argv[1]), noise = atof(argv[2]);
	const int wave = atoi(argv[3]), curves = atoi(argv[5]), rounds = atoi(argv[6]);
	int curve, round, i;

	(void)argc;
	srand((unsigned)atoi(argv[4]));
	for (curve = 0; curve < curves; curve++) {
		double knees[ROUNDS_OF];
		int found = 0;

		for (round = 0; round < rounds; round++) {
			struct curve_point points[POINTS];
			struct curve_figures f;

			for (i = 0; i < POINTS; i++) {
				/* the highest rate leaves 2 % of the queue's capacity */
				const double load = 0.98 * RATES_OF[i];
				const double ns = 100 + service * load / (1 - load);

				points[i].gbs = 100 * load * (1 + noise * normal());
				points[i].ns = ns * (1 + noise * normal());
			}
			if (wave)
				points[POINTS - 1].gbs = 80;
			curve_read(&f, points, POINTS);
			if (f.gbs_at_2x > 0)
				knees[found++] = f.gbs_at_2x;
		}
		if (found)
			median(knees, found);
		printf("%g %g %g %d\n", found ? knees[found / 2] : 0, found ? knees[0] : 0,
		       found ? knees[found - 1] : 0, 2 * found > rounds);
	}
	return 0;
}
