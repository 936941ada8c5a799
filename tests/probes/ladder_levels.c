/*
 * ladder_levels: what the ladder makes of points from stdin: its levels.
 *
 * stdin: threads, last-level caches; declared levels (count, bytes each); sizes
 * (count, bytes each); rounds; then for each of the six kinds of points, for each round, a figure
 * per size.  stdout: a line per curve, of each level ns, is it memory, bytes, low, high, varies;
 * and to what size rates alone show a cache.
 */
#include "../../src/harness/harness.c"

#include "../../src/ladder/levels.c"
#include "../../src/ladder/staircase.c"

static double next(void)
{
	double value = 0;

	if (scanf("%lf", &value) != 1)
		exit(EXIT_USAGE);
	return value;
}

static void read_points(struct ladder *l, struct declared *declared)
{
	int p, r, i;

	l->threads = (int)next();
	declared->last_levels = next();
	declared->count = (int)next();
	for (i = 0; i < declared->count; i++)
		declared->last = declared->bytes[i] = (size_t)next();
	l->count = (int)next();
	for (i = 0; i < l->count; i++)
		l->bytes[i] = (size_t)next();
	l->rounds = (int)next();
	for (p = 0; p < POINTS; p++) {
		l->most[p] = 0;
		for (r = 0; r < l->rounds; r++)
			for (i = 0; i < l->count; i++)
				if ((l->of[p][r][i] = next()) > 0 && l->bytes[i] > l->most[p])
					l->most[p] = l->bytes[i];
	}
}

int main(void)
{
	static struct ladder ladder;
	static struct declared declared;
	static struct level levels[LEVELS_MAX];
	double curves;
	int count, i;

	for (curves = next(); curves > 0; curves--) {
		read_points(&ladder, &declared);
		count = levels_find(levels, &ladder, &declared);
		for (i = 0; i < count; i++)
			printf("%g %d %g %g %g %d;", levels[i].of[LATENCY_2M], levels[i].is_memory,
			       levels[i].bytes, levels[i].low_bytes, levels[i].high_bytes,
			       levels[i].varies);
		printf(" %g\n", cache_by_rate(&ladder, levels, count));
	}
	return 0;
}
