/*
 * memory_policy: the NUMA domains that memory is requested from (numactl).
 */
#pragma once

#include "domains.h"

/* The policy in a word, "default", "bind" ..., and the domains that it names; "unknown" where the
 * kernel refuses to say. */
LOCAL const char *memory_policy(struct cpuset *domains);

/* The requested domains of the pages: those of the policy, else those local to the CPUs. */
LOCAL void memory_policy_domains(struct cpuset *domains, const struct cpuset *cpus);

/* Whether the policy allows these domains alone (numactl --membind). */
LOCAL int memory_policy_is_bound(struct cpuset *domains);

/* New memory of this thread comes from that domain alone, below 0 from any: 0, or the errno with
 * which the kernel refuses. */
LOCAL int memory_policy_bind(int domain);
