/*
 * levels: which levels of memory the points show, how large each is, and how fast.
 *
 * A larger working set cannot be faster, so what a round reads above a larger size's latency is
 * noise: the curve of a round is, at each size, the least latency from there on.  A stretch of at
 * least an octave in which it rises by less than 30 % is a level.  Two levels are one where the
 * latency of the second is less than 1.5 times that of the first, or where one thread reads no
 * slower there, by a tenth: a page walk is no cache.  The level that holds the largest size is
 * memory.  Levels of several rounds are one where their latencies lie within 1.5; one that fewer
 * than a third of the rounds show, or only one, is noise.  Of a level the figures are the medians
 * over its flat sizes, of memory over the two largest octaves; the bandwidth of memory only from
 * four times the last-level cache on, or the largest size; its latency at 256 MiB, as in `loaded`.
 *
 * A level ends where a load takes twice as long as in it, or half the way to the next level where
 * that is less.  Its interval goes from the last flat size of any round to the first that is three
 * quarters of the way to the next, or sixteen times as slow.  Where rounds differ by more than 1.5
 * times, or one shows no such level, the level has no size but a range: what the rounds showed.
 *
 * A pure function of the points: it measures nothing.
 */
#pragma once

#include "rungs.h"

enum { LEVELS_MAX = 8 };

struct level {
	int seen;      /* in so many rounds */
	int is_memory; /* it holds the largest size */
	int varies;    /* BYTES is of no use, the range is */
	/* median of the rounds, least and most; 0: not measured there */
	double of[POINTS], low[POINTS], high[POINTS];
	double bytes, low_bytes, high_bytes; /* its size; memory: where it begins */
};

/* Fills LEVELS, from the fastest on, and returns how many.  Threads share the last level as it is
 * declared: all together fill it by a part each. */
int levels_find(struct level levels[LEVELS_MAX], const struct ladder *ladder,
		const struct declared *declared);
