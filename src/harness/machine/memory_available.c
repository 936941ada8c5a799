#include "memory_available.h"

#include "../sysfile.h"
#include "cgroup.h"
#include "memory_policy.h"

static size_t memory_available_smaller_of(size_t x, size_t y)
{
	return x < y ? x : y;
}

static size_t memory_available_by_meminfo(void)
{
	char value[SYSLINE_MAX];

	if (!sysfile_field(value, "/proc/meminfo", "MemAvailable") &&
	    !sysfile_field(value, "/proc/meminfo", "MemFree"))
		return (size_t)-1;
	return (size_t)strtoull(value, NULL, 10) << 10;
}

static size_t memory_available_on_domains(const struct cpuset *domains, const char *what)
{
	size_t sum = 0;
	int domain;

	EACH_OF_SET (domain, domains)
		sum += domain_bytes(domain, what);
	return sum;
}

size_t memory_total_on(const struct cpuset *domains)
{
	return memory_available_on_domains(domains, "MemTotal");
}

/* As the kernel reckons MemAvailable, which it does not say of a domain: the
 * page cache and the caches of its own that it can drop give way. */
static size_t memory_available_free_on(const struct cpuset *domains)
{
	return memory_available_on_domains(domains, "MemFree") +
	       memory_available_on_domains(domains, "Active(file)") +
	       memory_available_on_domains(domains, "Inactive(file)") +
	       memory_available_on_domains(domains, "SReclaimable");
}

/* Virtual machines that were given memory later count it for no domain. */
static int memory_available_domains_add_up(void)
{
	char value[SYSLINE_MAX];
	struct cpuset all;

	topology_all_domains(&all);
	return sysfile_field(value, "/proc/meminfo", "MemTotal") &&
	       (double)memory_total_on(&all) > 0.95 * 1024.0 * atof(value);
}

static size_t memory_available_free_where_bound(void)
{
	struct cpuset domains;
	size_t free;

	if (!memory_policy_is_bound(&domains) || !memory_available_domains_add_up())
		return (size_t)-1;
	free = memory_available_free_on(&domains);
	return free ? free : (size_t)-1;
}

size_t memory_cgroup_limit(void)
{
	return memory_available_smaller_of(
		cgroup_smallest("memory", "memory.max", NULL),
		cgroup_smallest("memory", "memory.limit_in_bytes", NULL));
}

static const char *memory_available_source = "";

const char *memory_available_by(void)
{
	return memory_available_source;
}

size_t memory_available(void)
{
	const size_t everywhere = memory_available_by_meminfo(),
		     bound = memory_available_free_where_bound();
	/* beyond memory.high processes are slowed down, not killed */
	const size_t v2 = memory_available_smaller_of(
		cgroup_smallest("memory", "memory.max", "memory.current"),
		cgroup_smallest("memory", "memory.high", "memory.current"));
	const size_t v1 =
		cgroup_smallest("memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
	const size_t outside = memory_available_smaller_of(everywhere, bound),
		     group = memory_available_smaller_of(v1, v2);

	memory_available_source = group < outside ? " (the cgroup's limit)"
				  : bound < everywhere
					  ? " (on the NUMA domains that numactl gives)"
					  : "";
	return memory_available_smaller_of(outside, group);
}
