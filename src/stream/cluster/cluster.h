/*
 * cluster: what a job of several MPI ranks does except measuring.
 *
 * Each rank writes its own record before anything is gathered.  Then rank 0 hears a summary of
 * every rank, takes the records of all, and prints MPI_STREAM's list and summary.  A rank that
 * gave up waiting (ranks.h) reports what it measured itself: who did not is named by
 * 'membw rank --expected' from the records.
 */
#pragma once

#include "../run.h"

#ifdef MEMBW_MPI

/* The ranks meet, and must have the same options. */
void cluster_start(struct run *run);

/* After the measurement: slowest times of node and job. */
void cluster_measured(struct run *run);

/* Reports, of one process as well; the exit status. */
int cluster_report(struct run *run, double own_step);

#else
#define cluster_start(run) ((void)0)
#define cluster_measured(run) ((void)0)
#define cluster_report(run, own_step) ((void)(own_step), report(run))
#endif
