#include "memory_policy.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { POLICIES = 6 };

/* linux/mempolicy.h: MPOL_PREFERRED, BIND, INTERLEAVE carry a list of domains. */
static const char *const MEMORY_POLICY_NAMES[POLICIES] = { "default", "preferred",
							   "bind",    "interleave",
							   "local",   "preferred-many" };

const char *memory_policy(struct cpuset *domains)
{
	unsigned long mask[DOMAINS_MAX / (8 * sizeof(long))];
	int mode = 0, node;

	cpuset_clear(domains);
	memset(mask, 0, sizeof(mask));
#ifdef SYS_get_mempolicy
	if (syscall(SYS_get_mempolicy, &mode, mask, (unsigned long)DOMAINS_MAX, NULL, 0UL) != 0)
		return MEMORY_POLICY_NAMES[0];
#endif
	for (node = 0; node < DOMAINS_MAX; node++)
		if (mask[(size_t)node / (8 * sizeof(long))] >>
			    ((size_t)node % (8 * sizeof(long))) &
		    1)
			cpuset_add(domains, node);
	mode &= 0xff;
	return mode < POLICIES ? MEMORY_POLICY_NAMES[mode] : "other";
}

void memory_policy_domains(struct cpuset *domains, const struct cpuset *cpus)
{
	memory_policy(domains);
	if (!cpuset_count(domains))
		topology_domains(domains, cpus);
}

int memory_policy_is_bound(struct cpuset *domains)
{
	return strcmp(memory_policy(domains), "bind") == 0 && cpuset_count(domains);
}
