/*
 * cluster: what an MPI job does beside measuring: its ranks meet, save what
 * there is when a signal comes, and hand over to rank 0, which reports.
 *
 * Rank 0 hears a summary of every rank, then fetches the records, a few ranks
 * at a time, and writes each as it comes.  A rank that rank 0 does not come
 * for writes its record by itself, to FILE.rank-N.
 */
#ifndef MEMBW_CLUSTER_H
#define MEMBW_CLUSTER_H

#include "../run.h"

/* The ranks meet: the same options everywhere, a guard for each. */
void cluster_start(struct run *run);

/* Room for the times; the end of what can be refused. */
void cluster_ready(struct run *run, double own_step);

/* After the measurement: slowest times of node and job; and, when a signal
 * asked to stop, what was measured goes to disk before the arrays are checked. */
void cluster_measured(struct run *run);

/* Reports; the exit status. */
int cluster_report(struct run *run, double own_step);

#endif
