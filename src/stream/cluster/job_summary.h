/*
 * job_summary: what rank 0 prints of all nodes: the sorted list and the summary in the layout of
 * CEA's MPI_STREAM, what was found where, and the verdict on the whole job.
 *
 * A node's rate is that of its ranks together, in one and the same iteration: all their bytes in
 * the time of the slowest of them.  Figures that are INVALID stay out of the statistics, unless
 * there are no other ranks.
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

/* Node by node; rank by rank where there is but one node. */
void summary_print(const struct summary *summaries, int count);

/* What was found on any rank: a bit per reason. */
unsigned summary_found(const struct summary *summaries, int count);

/* The last line; 1 if every rank is valid. */
int summary_verdict(const struct summary *summaries, int count);
