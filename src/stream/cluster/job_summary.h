/*
 * job_summary: what rank 0 prints of all nodes: the sorted list and the summary in the layout of
 * CEA's MPI_STREAM, what was found where, and the verdict on the whole job.
 */
#pragma once

#include "node_stats.h"

/* Node by node; rank by rank where there is but one node. */
void summary_print(const struct summary *summaries, int count);

/* The last line; 1 if every rank is valid. */
int summary_verdict(const struct summary *summaries, int count);
