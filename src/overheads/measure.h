/*
 * measure: construct and reference in turn, pair by pair.
 *
 * The constructs of a team take turns: one pair of each, then the next of each, so that what
 * disturbs for a second disturbs few pairs of any.  In every second pair the reference comes
 * first (A B B A).  A pair in which a thread lost its CPU to other processes does not count and is
 * made again, up to three times as many in all.
 */
#pragma once

#include "constructs.h"

enum { PAIRS_MAX = 1001 };

struct overhead {
	const struct construct *construct;
	int threads;
	const char *name;       /* of its metric; lives as long as the program */
	long repetitions;       /* in a block */
	double shortest;        /* seconds of a block */
	int count;              /* pairs that count */
	int played;             /* and those that do not */
	double *with, *without; /* seconds of a repetition, in the order of the pairs */
	double *additions;      /* per cycle, of the slowest thread around the pair */
};

/* Measures all of them, of one team; ends after PAIRS pairs of each. */
void overheads_measure(struct overhead *overheads, int count, int pairs);

/* Additions per cycle around the pairs, in the middle: the same machine has fewer while somebody
 * is at work on the other hardware threads of its cores.  0: not known. */
double overheads_additions(const struct overhead *overheads, int count);
