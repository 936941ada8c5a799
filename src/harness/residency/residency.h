/*
 * residency: how it is known that arrays lie in memory, not in a cache, in one of five words.
 *
 *	proven        by measuring: Triad agrees from half that size on to twice what the caches of
 *	              this machine can be
 *	not proven    by measuring: the same, but memory or time ended before
 *	contradicted  by measuring: larger arrays are slower by a quarter
 *	declared      not measured, but four times the caches that the CPU declares
 *	unknown       none of these
 *
 * Not proven: a cache that large can only make the figure too high.
 *
 * A plateau alone proves nothing, since each cache has one.  What the caches can be is what the
 * CPU declares, and, since a virtual machine may declare less than it has, at least 512 MiB, and
 * 96 MiB per thread up to 2,304 MiB: the largest caches of today.
 *
 * Here is the rule, a pure function of the points; triads.h measures them.
 */
#pragma once

#include "../config.h"

enum residency {
	RESIDENCY_UNKNOWN,
	RESIDENCY_DECLARED,
	RESIDENCY_CONTRADICTED,
	RESIDENCY_NOT_PROVEN,
	RESIDENCY_PROVEN
};

/* "not proven", ... */
LOCAL const char *residency_word(enum residency residency);

enum { RESIDENCY_SIZES = 24 };

/* Triad of all threads at sizes that double, GB/s; BYTES: of the three arrays of all threads. */
struct residency_curve {
	int count;
	size_t bytes[RESIDENCY_SIZES];
	double gbs[RESIDENCY_SIZES];
};

/* Bytes that a plateau must reach to be a proof, where the caches declare so many (0: not
 * known). */
LOCAL size_t residency_reach(size_t declared, int threads);

/* The first size of the plateau: it and all larger ones agree with the largest within a tenth, and
 * there are two doublings; -1: none. */
LOCAL int residency_plateau(const struct residency_curve *curve);

/* Whether the largest size is slower than size AT, or than the one before it, by more than a
 * tenth: then no declared size is believed. */
LOCAL int residency_still_falls(const struct residency_curve *curve, int at);

/* What the points, three or more, say of size AT: contradicted, proven, not proven, unknown. */
LOCAL enum residency residency_at(const struct residency_curve *curve, int at, size_t reach);
