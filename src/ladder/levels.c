#include "levels.h"

#include "../harness/elementary.h"
#include "../harness/memory/chase.h"
#include "../harness/order_statistics.h"

static const double FLAT = 1.3, OCTAVE = 1.9, DISTINCT = 1.5, SLOWER = 0.95, VARIES = 1.5;

enum { STRETCHES_MAX = ROUNDS_MAX * LEVELS_MAX };

/* A flat stretch of one round: a level as that round shows it. */
struct stretch {
	int round, from, to; /* rungs */
	int is_end;          /* it holds the largest */
	double of[POINTS];
	int level; /* -1: not yet */
};

/* Latency of a round at each size, or the least of larger sizes. */
struct curve {
	int count;
	double ns[RUNGS_MAX];
};

static void curve_of(struct curve *curve, const struct ladder *l, int round)
{
	double least = 0;
	int i;

	curve->count = 0;
	for (i = l->count - 1; i >= 0; i--) {
		const double ns = l->of[LATENCY_2M][round][i];

		if (ns > 0 && (ns < least || !is_positive(least)))
			least = ns;
		if (ns > 0 && !curve->count)
			curve->count = i + 1;
		curve->ns[i] = least;
	}
}

/* Of what was measured at sizes within these bounds; 0: nothing. */
static double median_within(const struct ladder *l, int points, int round, double low, double high)
{
	double values[RUNGS_MAX];
	int i, count = 0;

	for (i = 0; i < l->count; i++)
		if (l->of[points][round][i] > 0 && (double)l->bytes[i] >= low &&
		    (double)l->bytes[i] <= high)
			values[count++] = l->of[points][round][i];
	return count ? median(values, count) : 0;
}

/* The largest size that was to be measured: what a round lacks of it may lie in a cache. */
static double largest_of(const struct ladder *l, int points)
{
	int i = l->count - 1;

	while (i > 0 && l->bytes[i] > l->most[points])
		i--;
	return (double)l->bytes[i];
}

/* Of memory in the two largest octaves, rates from 4 times the last level on: caches count least.
 * Its latency is that of the chain that each program has, where that lies in memory. */
static void fill_figures(struct stretch *s, const struct ladder *l,
			 const struct declared *declared)
{
	const double from = (double)l->bytes[s->from], to = (double)l->bytes[s->to];
	const double private_bytes =
		declared->count > 1 ? 2.0 * (double)declared->bytes[declared->count - 2] : 0;
	const double sharers = to > private_bytes ? l->threads / declared->last_levels : 1;
	const double last = 4.0 * (double)declared->last, usual = CHASE_USUAL;
	int p;

	for (p = 0; p < POINTS; p++) {
		const double threads = p < READ_ALL ? 1 : sharers;
		const double most = largest_of(l, p);
		double least = most / 4;

		if (p >= READ_ONE && least < last / threads)
			least = last / threads < most ? last / threads : most;
		s->of[p] = s->is_end ? median_within(l, p, s->round, least, most)
				     : median_within(l, p, s->round, from, to / threads);
	}
	if (s->is_end && 2 * from <= usual)
		for (p = LATENCY_2M; p <= LATENCY_4K; p++) {
			const double ns = median_within(l, p, s->round, usual, usual);

			s->of[p] = ns > 0 ? ns : s->of[p];
		}
}

/* Whether the second is only more of the first. */
static int is_same_level(const struct stretch *first, const struct stretch *second)
{
	return second->of[LATENCY_2M] < DISTINCT * first->of[LATENCY_2M] ||
	       (first->of[READ_ONE] > 0 && second->of[READ_ONE] > 0 &&
		second->of[READ_ONE] > SLOWER * first->of[READ_ONE]);
}

static int stretches_of_round(struct stretch *stretches, const struct ladder *l, int round,
			      const struct declared *declared)
{
	struct curve curve;
	int count = 0, i, to;

	curve_of(&curve, l, round);
	for (i = 0; i < curve.count && count < LEVELS_MAX; i = to + 1) {
		struct stretch *const s = &stretches[count];

		for (to = i; to + 1 < curve.count && curve.ns[to + 1] < FLAT * curve.ns[i]; to++)
			continue;
		if ((double)l->bytes[to] < OCTAVE * (double)l->bytes[i]) {
			to = i;
			continue;
		}
		*s = (struct stretch){ .round = round, .from = i, .to = to, .level = -1 };
		fill_figures(s, l, declared);
		if (count && is_same_level(s - 1, s))
			s[-1].to = to;
		else
			count++;
	}
	if (count && 2 * (double)l->bytes[curve.count - 1] >= largest_of(l, LATENCY_2M) &&
	    curve.ns[curve.count - 1] < DISTINCT * stretches[count - 1].of[LATENCY_2M]) {
		stretches[count - 1].is_end = 1;
		fill_figures(&stretches[count - 1], l, declared);
	}
	return count;
}

/* Median, least and most of the rounds that show the level. */
static double of_rounds(const struct stretch *s, int count, int level, int points, double *low,
			double *high)
{
	struct order_statistics of = { 0 };
	double values[STRETCHES_MAX];
	int i, n = 0;

	for (i = 0; i < count; i++)
		if (s[i].level == level && s[i].of[points] > 0)
			values[n++] = s[i].of[points];
	if (n)
		order_statistics(&of, values, n);
	*low = of.min;
	*high = of.max;
	return of.median;
}

static void fill_level(struct level *level, const struct ladder *l, const struct stretch *s,
		       int count, int number)
{
	double values[STRETCHES_MAX];
	int i, p;

	memset(level, 0, sizeof(*level));
	for (p = 0; p < POINTS; p++)
		level->of[p] = of_rounds(s, count, number, p, &level->low[p], &level->high[p]);
	for (i = 0; i < count; i++) {
		if (s[i].level != number)
			continue;
		level->is_memory |= s[i].is_end;
		values[level->seen++] = (double)l->bytes[s[i].from];
	}
	if (!level->is_memory)
		return;
	level->bytes = median(values, level->seen); /* sorts them */
	level->low_bytes = values[0];
	level->high_bytes = values[level->seen - 1];
}

/* Gives each stretch its level, and returns how many there are: memory is the last one. */
static int number_levels(struct stretch *s, int count)
{
	int levels = 0, i, least;

	for (;;) {
		for (least = -1, i = 0; i < count; i++)
			if (s[i].level < 0 && !s[i].is_end &&
			    (least < 0 || s[i].of[LATENCY_2M] < s[least].of[LATENCY_2M]))
				least = i;
		if (least < 0)
			break;
		for (i = 0; i < count; i++)
			if (i != least && s[i].level < 0 && !s[i].is_end &&
			    s[i].of[LATENCY_2M] < DISTINCT * s[least].of[LATENCY_2M])
				s[i].level = levels;
		s[least].level = levels++;
	}
	for (i = 0; i < count; i++)
		if (s[i].is_end)
			s[i].level = levels;
	return levels + 1;
}

/* Where the curve reaches NS, between two sizes; the largest size where it does not. */
static double size_at(const struct ladder *l, const struct curve *curve, double ns)
{
	int i = 0;

	while (i < curve->count && curve->ns[i] < ns)
		i++;
	if (i == 0 || i == curve->count)
		return (double)l->bytes[i ? i - 1 : 0];
	return (double)l->bytes[i - 1] + (double)(l->bytes[i] - l->bytes[i - 1]) *
						 (ns - curve->ns[i - 1]) /
						 (curve->ns[i] - curve->ns[i - 1]);
}

static int shows(const struct stretch *s, int count, int round, int level)
{
	int i;

	for (i = 0; i < count; i++)
		if (s[i].round == round && s[i].level == level)
			return 1;
	return 0;
}

static double smaller(double x, double y)
{
	return x < y ? x : y;
}

/* The sizes of a level, round by round; NUMBER is what its stretches are numbered by. */
static void measure_size(struct level *level, const struct level *before, const struct level *next,
			 const struct ladder *l, const struct stretch *s, int count, int number)
{
	const double ns = level->of[LATENCY_2M], rise = next ? next->of[LATENCY_2M] - ns : ns;
	const double end = ns + smaller(ns, rise / 2);
	const double beyond = ns + smaller(15 * ns, rise * 3 / 4);
	double sizes[ROUNDS_MAX], low = 1e99, high = 0;
	struct curve curve;
	int r, i;

	for (r = 0; r < l->rounds; r++) {
		curve_of(&curve, l, r);
		sizes[r] = size_at(l, &curve, end);
		if (!shows(s, count, r, number) && before && sizes[r] < VARIES * before->bytes)
			sizes[r] = 0;
		for (i = 0; i + 1 < curve.count && curve.ns[i + 1] < FLAT * ns; i++)
			continue;
		low = smaller(low, (double)l->bytes[i]);
		while (i + 1 < curve.count && curve.ns[i] < beyond)
			i++;
		high = (double)l->bytes[i] > high ? (double)l->bytes[i] : high;
	}
	level->bytes = median(sizes, l->rounds); /* sorts them */
	level->varies = sizes[l->rounds - 1] > VARIES * sizes[0];
	level->low_bytes = level->varies ? sizes[0] : smaller(low, level->bytes);
	level->high_bytes = level->varies ? sizes[l->rounds - 1] : high;
}

int levels_find(struct level levels[LEVELS_MAX], const struct ladder *ladder,
		const struct declared *declared)
{
	struct stretch stretches[STRETCHES_MAX];
	int number[LEVELS_MAX], count = 0, found = 0, all, r, i;

	for (r = 0; r < ladder->rounds; r++)
		count += stretches_of_round(&stretches[count], ladder, r, declared);
	all = number_levels(stretches, count);
	for (i = 0; i < all && found < LEVELS_MAX; i++) {
		fill_level(&levels[found], ladder, stretches, count, i);
		number[found] = i;
		found += 3 * levels[found].seen >= ladder->rounds &&
			 levels[found].seen >= (ladder->rounds > 1 ? 2 : 1);
	}
	for (i = 0; i < found; i++)
		if (!levels[i].is_memory)
			measure_size(&levels[i], i ? &levels[i - 1] : NULL,
				     i + 1 < found ? &levels[i + 1] : NULL, ladder, stretches,
				     count, number[i]);
	return found;
}
