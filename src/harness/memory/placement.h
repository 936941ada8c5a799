/*
 * placement: on which NUMA domains pages really lie.
 *
 * Requested is what the memory policy (numactl) says; without one, the domains
 * local to the CPUs that the thread may run on, because it touched the page first.
 * One page in a hundred may lie elsewhere: a neighbour's thread touches it.
 * Where the kernel refuses to say where pages lie, as in containers, the placement is not known:
 * wrong where they may lie on several domains.
 */
#pragma once

#include "../machine/domains.h"

struct placement {
	const char *policy;           /* in force when the sampling began */
	struct cpuset policy_domains; /* that it names */
	size_t sampled, absent, misplaced;
	size_t on[DOMAINS_MAX];  /* sampled pages on each domain */
	struct cpuset cpus;      /* of the threads that touched them */
	struct cpuset requested; /* where the last misplaced page should lie */
};

/* Notes the memory policy of this thread. */
LOCAL void placement_begin(struct placement *placement);

/* Samples pages of memory that a thread with this affinity touched first. */
LOCAL void placement_sample(struct placement *placement, const void *memory, size_t bytes,
			    const struct cpuset *affinity);

/* Finds wrong-placement: pages elsewhere, or none of which it is known. */
LOCAL void placement_judge(const struct placement *placement, const char *when);

/* Writes such a member of the record. */
LOCAL void placement_write(const char *key, const struct placement *placement);

/* The domain of the page at an address, -1 where the kernel does not say. */
LOCAL int placement_domain(const void *address);

/* Finds wrong-placement where there are several domains: a page of which placement_domain() did
 * not say where it lies; memory that the kernel did not bind to a domain, with its errno. */
LOCAL void placement_unknown(void);
LOCAL void placement_refused(int domain, int error);

/* Warns of CPUs in a domain without memory that may be used. */
LOCAL void placement_judge_home(const struct cpuset *cpus);

enum { PHYSICAL_TEXT_MAX = 32 };

/* The physical address as 0x..., NULL unless root: the kernel hides it from other users. */
LOCAL const char *placement_physical(const void *address, char text[PHYSICAL_TEXT_MAX]);
