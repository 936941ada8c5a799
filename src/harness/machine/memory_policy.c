#include "memory_policy.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLICY_DEFAULT = 0, POLICY_BIND = 2, POLICIES = 6 };

/* linux/mempolicy.h: MPOL_PREFERRED, BIND, INTERLEAVE carry a list of domains. */
static const char *const MEMORY_POLICY_NAMES[POLICIES] = { "default", "preferred",
							   "bind",    "interleave",
							   "local",   "preferred-many" };

/* The kernel's masks are of longs, as those of CPUs. */
const char *memory_policy(struct cpuset *domains)
{
	int mode = 0;

	cpuset_clear(domains);
#ifdef SYS_get_mempolicy
	if (syscall(SYS_get_mempolicy, &mode, domains->part, (unsigned long)DOMAINS_MAX, NULL,
		    0UL) != 0)
		return "unknown";
#endif
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
	struct cpuset one;

	cpuset_clear(&one);
	cpuset_add(&one, domain);
	return syscall(SYS_set_mempolicy, domain < 0 ? POLICY_DEFAULT : POLICY_BIND,
		       domain < 0 ? NULL : one.part,
		       domain < 0 ? 0UL : (unsigned long)DOMAINS_MAX) != 0
		       ? errno
		       : 0;
#else
	(void)domain;
	return ENOSYS;
#endif
}

int memory_policy_is_bound(struct cpuset *domains)
{
	return strcmp(memory_policy(domains), "bind") == 0 && cpuset_count(domains);
}
