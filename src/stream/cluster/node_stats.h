/*
 * node_stats: what rank 0 knows of every rank, and what it makes of it: figures of each node,
 * their order, their statistics.
 *
 * A summary is of fixed size, so that 8192 of them are a few MB.  A node's rate is that of its
 * ranks together, in one and the same iteration: all their bytes in the time of the slowest of
 * them.  Figures that are INVALID stay out of the statistics, unless there are no others.
 */
#pragma once

#include "../../harness/verdict.h"
#include "../kernels/kernels.h"

enum { DETAIL_MAX = 160 };

struct summary {
	int rank;
	const char *node; /* where this rank is known, on rank 0 */
	int threads;
	unsigned reasons[ALLOWED + 1]; /* of each kind of finding: a bit per reason */
	double mbs[KERNELS];           /* the rank alone, its best; 0 for none */
	double node_mbs[KERNELS];      /* its node */
	int detail_of;                 /* the reason that the detail is of */
	char detail[DETAIL_MAX];
};

/* One line of the list: a node, or one rank. */
struct unit {
	const char *name;
	int rank; /* the first */
	int ranks, threads;
	unsigned invalid; /* a bit per reason */
	double mbs[KERNELS];
};

struct statistics {
	int count, left_out; /* units counted; INVALID ones */
	double average, per_thread, deviation, median, mad;
	const struct unit *largest, *smallest;
};

/* Each rank for itself, or the ranks of each node together; returns how many units, in UNITS,
 * which has room for COUNT. */
int nodes_apart(struct unit *units, const struct summary *summaries, int count);
int nodes_join(struct unit *units, const struct summary *summaries, int count);

/* By Triad, the slowest last. */
void nodes_sort(struct unit *units, int count);

/* Over the VALID units, else over all; SCRATCH has room for COUNT. */
void nodes_statistics(struct statistics *statistics, const struct unit *units, int count,
		      int kernel, double *scratch);
