/*
 * cluster: what a job of several MPI ranks does beside measuring.
 *
 * Each rank writes its own record before anything is gathered.  Then rank 0 hears a summary of
 * every rank, takes the records of all, and prints MPI_STREAM's list and summary.
 */
#ifndef MEMBW_CLUSTER_H
#define MEMBW_CLUSTER_H

#include "../run.h"

/* The ranks meet, and must have been asked for the same. */
void cluster_start(struct run *run);

/* All begin together. */
void cluster_ready(double own_step);

/* After the measurement: slowest times of node and job; what was measured goes to disk before the
 * arrays are checked, if the job is to end. */
void cluster_measured(struct run *run);

/* Reports, of one process as well; the exit status. */
int cluster_report(struct run *run, double own_step);

#endif
