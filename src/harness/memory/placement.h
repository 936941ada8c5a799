/*
 * placement: on which NUMA domains pages really lie.
 *
 * Requested is what the memory policy (numactl) says; without one, the domain
 * of the CPUs that the thread may run on, because it touched the page first.
 * One page in a hundred may lie elsewhere: a neighbour's thread touches it.
 */
#pragma once

#include "../machine/topology.h"

struct placement {
	const char *policy;           /* in force when the sampling began */
	struct cpuset policy_domains; /* that it names */
	size_t sampled, absent, misplaced;
	size_t on[DOMAINS_MAX];  /* sampled pages on each domain */
	struct cpuset requested; /* where the last misplaced page should lie */
};

/* Notes the memory policy of this thread. */
LOCAL void placement_begin(struct placement *placement);

/* Samples pages of memory that a thread with this affinity touched first. */
LOCAL void placement_sample(struct placement *placement, const void *memory, size_t bytes,
			    const struct cpuset *affinity);

/* Finds wrong-placement. */
LOCAL void placement_judge(const struct placement *placement, const char *when);

/* Writes such a member of the record. */
LOCAL void placement_write(const char *key, const struct placement *placement);

/* The domain of the page at an address, -1 where the kernel does not say. */
LOCAL int placement_domain(const void *address);

enum { PHYSICAL_TEXT_MAX = 32 };

/* The physical address as 0x..., NULL unless root: the kernel hides it from other users. */
LOCAL const char *placement_physical(const void *address, char text[PHYSICAL_TEXT_MAX]);
