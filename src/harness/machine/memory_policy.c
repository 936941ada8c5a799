#include "memory_policy.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLICY_DEFAULT = 0, POLICY_BIND = 2, POLICIES = 6 };

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
		return "unknown";
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
		domains_local(domains, cpus);
}

int memory_policy_bind(int domain)
{
#ifdef SYS_set_mempolicy
	unsigned long mask[DOMAINS_MAX / (8 * sizeof(long))] = { 0 };
	const size_t bits = 8 * sizeof(long);

	if (domain >= 0)
		mask[(size_t)domain / bits] |= 1UL << (size_t)domain % bits;
	if (syscall(SYS_set_mempolicy, domain < 0 ? POLICY_DEFAULT : POLICY_BIND,
		    domain < 0 ? NULL : mask, domain < 0 ? 0UL : (unsigned long)DOMAINS_MAX) != 0)
		return errno;
	return 0;
#else
	(void)domain;
	return ENOSYS;
#endif
}

int memory_policy_is_bound(struct cpuset *domains)
{
	return strcmp(memory_policy(domains), "bind") == 0 && cpuset_count(domains);
}
