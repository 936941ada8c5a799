/*
 * host_ranks: the other ranks of our MPI job on the same host.
 *
 * They share its memory, its caches and perhaps its CPUs.  What they take of our CPUs is our own
 * job's doing: it is counted apart from other jobs, and, when there are more threads than
 * CPUs, named.  Before they are known, and without MPI, there are none.
 */
#pragma once

#include "../machine/cpuset.h"
#include "ranks.h"

struct host_rank {
	struct cpuset cpus;
	int threads, rank;
	char node[NODE_NAME_MAX]; /* one host may pose as several: Slurm's virtual nodes */
};

/* The COUNT ranks of this host; OWN is the place of this one. */
LOCAL void host_ranks_know(const struct host_rank *all, int count, int own);

/* How many ranks of this host come before this one. */
LOCAL int host_ranks_before(void);

/* The ranks here that may use one of these CPUs; at least 1. */
LOCAL int host_ranks_using(const struct cpuset *cpus);

/* Finds oversubscribed: ranks that share CPUs have more threads than those. */
LOCAL void host_ranks_judge(void);
