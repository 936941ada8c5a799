#include "residency.h"

static const double RESIDENCY_FALLS = 0.75, RESIDENCY_AGREES = 0.9;

enum { RESIDENCY_DOUBLINGS = 2, RESIDENCY_TIMES = 2 };

/* One socket: Granite Rapids has 504 MiB for all of its cores, EPYC 9684X 96 MiB for each eight
 * and 1,152 in all. */
static const size_t RESIDENCY_CACHE_LEAST = 512, RESIDENCY_CACHE_PER_THREAD = 96,
		    RESIDENCY_CACHE_MOST = 2304;

const char *residency_word(enum residency residency)
{
	static const char *const words[] = { "unknown", "declared", "contradicted", "not proven",
					     "proven" };

	return words[residency];
}

size_t residency_reach(size_t declared, int threads)
{
	size_t cache = RESIDENCY_CACHE_PER_THREAD * (size_t)threads;

	cache = cache < RESIDENCY_CACHE_LEAST  ? RESIDENCY_CACHE_LEAST
		: cache > RESIDENCY_CACHE_MOST ? RESIDENCY_CACHE_MOST
					       : cache;
	cache *= MIB;
	return RESIDENCY_TIMES * (declared > cache ? declared : cache);
}

static int residency_agrees(double rate, double other)
{
	return rate > RESIDENCY_AGREES * other && other > RESIDENCY_AGREES * rate;
}

int residency_plateau(const struct residency_curve *c)
{
	const int last = c->count - 1;
	int i = last;

	while (i > 0 && residency_agrees(c->gbs[i - 1], c->gbs[last]))
		i--;
	return last - i >= RESIDENCY_DOUBLINGS ? i : -1;
}

int residency_still_falls(const struct residency_curve *c, int at)
{
	const int last = c->count - 1, before = at < last - 1 ? at : last - 1;

	return at <= last && c->gbs[last] < RESIDENCY_AGREES * c->gbs[before];
}

enum residency residency_at(const struct residency_curve *c, int at, size_t reach)
{
	const int last = c->count - 1, plateau = residency_plateau(c);

	at = at < last ? at : last; /* what is larger lies in memory where this does */
	/* two larger ones: one alone may be what other processes left of it */
	if (c->gbs[last - 1] < RESIDENCY_FALLS * c->gbs[at] &&
	    c->gbs[last] < RESIDENCY_FALLS * c->gbs[at])
		return RESIDENCY_CONTRADICTED;
	if (plateau < 0 || at <= plateau)
		return RESIDENCY_UNKNOWN;
	return c->bytes[last] >= reach ? RESIDENCY_PROVEN : RESIDENCY_NOT_PROVEN;
}
