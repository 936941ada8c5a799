/*
 * placement: on which NUMA domains the pages of the arrays really lie.
 *
 * Asked for is what the memory policy (numactl) says; without one, the domain
 * of the CPUs that the thread may run on, because it touched the page first.
 * One page in a hundred may lie elsewhere: a neighbour's thread touches it.
 */
#ifndef MEMBW_PLACEMENT_H
#define MEMBW_PLACEMENT_H

#include "../../stream/kernels/arrays.h"
#include "../machine/topology.h"

struct placement {
	size_t sampled, absent, misplaced;
	size_t on[DOMAINS_MAX]; /* sampled pages on each domain */
};

/* Samples pages of every thread's share; finds memory-not-where-asked. */
void placement_check(struct placement *placement, const struct arrays *arrays, const char *when);

/* The domain of the page at an address, -1 where the kernel does not say. */
int placement_domain(const void *address);

enum { PHYSICAL_TEXT_MAX = 32 };

/* The physical address as 0x..., NULL unless root: the kernel hides it from others. */
const char *placement_physical(const void *address, char text[PHYSICAL_TEXT_MAX]);

/* The domains that pages are asked to lie on: those of the memory policy, else
 * those of the CPUs. */
void placement_asked(struct cpuset *domains, const struct cpuset *cpus);

/* Whether the policy allows these domains alone (numactl --membind). */
int placement_is_bound(struct cpuset *domains);

/* The memory policy in a word: "default", "bind", ... */
const char *placement_policy(void);

#endif
