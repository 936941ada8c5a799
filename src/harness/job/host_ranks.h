/*
 * siblings: the other ranks of our job on the same host.
 *
 * They share its memory, its caches and perhaps its CPUs.  What they take of
 * our CPUs is our own job's doing: it is told apart from what strangers take,
 * and, when there are more threads than CPUs, named.  Without -DMEMBW_MPI a
 * process has none.
 */
#ifndef MEMBW_SIBLINGS_H
#define MEMBW_SIBLINGS_H

#include "../machine/cpuset.h"

/* Exchanges CPUs and thread counts; after an agreement. */
void siblings_meet(const struct cpuset *cpus, int threads);

/* Ranks of this node, this one included, and over those the sum and the
 * smallest.  One host may pose as several nodes (Slurm's virtual ones). */
int siblings_count(void);
size_t siblings_sum(size_t value);
size_t siblings_smallest(size_t value);

/* The ranks here that may use one of these CPUs; at least 1. */
int siblings_using(const struct cpuset *cpus);

/* The sum of seconds over this rank and those of this host that share CPUs
 * with it; after the measurement: below 0 where not all answer. */
double siblings_sum_on_our_cpus(double own);

/* Finds oversubscribed: ranks that share CPUs have more threads than those. */
void siblings_judge(void);

/* The largest of each of COUNT values over the ranks of this node and over all ranks (on rank 0);
 * 0 if this rank has to give up. */
int siblings_slowest(const double *own, double *node, double *job, int count);

#endif
