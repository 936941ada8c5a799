#include "in_memory.h"

#include "../harness/order_statistics.h"

/* Triad of all threads at a rung, over the rounds. */
struct rates {
	double best, least, middle; /* 0: not measured */
};

static struct rates rates_at(const struct ladder *l, int rung)
{
	struct rates rates = { 0, 0, 0 };
	double values[ROUNDS_MAX];
	int r, count = 0;

	for (r = 0; r < l->rounds; r++)
		if (l->of[TRIAD_ALL][r][rung] > 0)
			values[count++] = l->of[TRIAD_ALL][r][rung];
	if (!count)
		return rates;
	rates.middle = median(values, count); /* sorts them */
	rates.least = values[0];
	rates.best = values[count - 1];
	return rates;
}

/* The rung of so many bytes, within 5 %; -1: none. */
static int rung_of(const struct ladder *l, double bytes)
{
	int i;

	for (i = 0; i < l->count; i++)
		if ((double)l->bytes[i] > 0.95 * bytes && (double)l->bytes[i] < 1.05 * bytes)
			return i;
	return -1;
}

static int agrees_at(const struct ladder *l, const struct rates *here, double bytes)
{
	const int rung = rung_of(l, bytes);
	struct rates there;

	if (rung < 0)
		return 0;
	there = rates_at(l, rung);
	return residency_agrees(here->best, there.best) && here->best >= there.least &&
	       there.best >= here->least;
}

static int falls_above(const struct ladder *l, int rung)
{
	const struct rates here = rates_at(l, rung);
	int i;

	for (i = rung + 1; i < l->count; i++) {
		const struct rates there = rates_at(l, i);

		if (there.best > 0 && residency_falls(here.best, there.best) &&
		    there.best < here.middle)
			return 1;
	}
	return 0;
}

int residency_reaches(const struct ladder *l, const struct level *levels, int count,
		      const struct declared *declared, double *largest_cache)
{
	double most = 0, largest = (double)declared->last;
	int i;

	for (i = 0; i < count; i++) {
		const double bytes = levels[i].varies ? levels[i].high_bytes : levels[i].bytes;

		if (!levels[i].is_memory && bytes > largest)
			largest = bytes;
	}
	for (i = 0; i < l->count; i++)
		if (rates_at(l, i).best > 0)
			most = (double)l->bytes[i] * l->threads;
	*largest_cache = largest * declared->last_levels;
	return most > 0.95 * 8 * *largest_cache;
}

/* Median over the rounds of the latency at that size of one thread, 0: not measured. */
static double latency_at(const struct ladder *l, double bytes)
{
	const int rung = rung_of(l, bytes);
	double values[ROUNDS_MAX];
	int r, count = 0;

	for (r = 0; rung >= 0 && r < l->rounds; r++)
		if (l->of[LATENCY_2M][r][rung] > 0)
			values[count++] = l->of[LATENCY_2M][r][rung];
	return count ? median(values, count) : 0;
}

static int is_proven(int rung, const struct ladder *l, const struct level *levels, int count,
		     const struct declared *declared)
{
	const struct rates here = rates_at(l, rung);
	const double bytes = (double)l->bytes[rung];
	double largest;

	return count > 1 && levels[count - 1].is_memory &&
	       residency_reaches(l, levels, count, declared, &largest) &&
	       agrees_at(l, &here, bytes / 2) && agrees_at(l, &here, bytes * 2) &&
	       !falls_above(l, rung) &&
	       latency_at(l, bytes * l->threads / declared->last_levels) >
		       2 * levels[count - 2].ns;
}

enum residency residency_at(int rung, const struct ladder *l, const struct level *levels,
			    int count, const struct declared *declared)
{
	const double all = (double)l->bytes[rung] * l->threads;

	if (falls_above(l, rung))
		return RESIDENCY_CONTRADICTED;
	if (is_proven(rung, l, levels, count, declared))
		return RESIDENCY_PROVEN;
	if (declared->last && all >= 4 * (double)declared->last * declared->last_levels)
		return RESIDENCY_DECLARED;
	return RESIDENCY_UNKNOWN;
}
