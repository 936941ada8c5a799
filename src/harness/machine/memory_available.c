#include "memory_available.h"

#include "../sysfile.h"
#include "cgroup.h"
#include "memory_policy.h"

#include <sys/resource.h>

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
	const double total = (double)sysfile_kib("/proc/meminfo", "MemTotal");
	struct cpuset all;

	topology_all_domains(&all);
	return total > 0 && (double)memory_total_on(&all) > 0.95 * total;
}

/* Where a policy (numactl --membind) or a cpuset leaves some of the domains. */
static size_t memory_available_on_allowed(void)
{
	struct cpuset all, domains;
	size_t free;

	domains_with_memory(&all);
	domains_allowed(&domains);
	if (!memory_policy_is_bound(&domains) && cpuset_count(&domains) == cpuset_count(&all))
		return (size_t)-1;
	if (!memory_available_domains_add_up())
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

/* beyond memory.high processes are slowed down, not killed */
static size_t memory_available_in_cgroup(void)
{
	static const char *const files[][2] = {
		{ "memory.max", "memory.current" },
		{ "memory.high", "memory.current" },
		{ "memory.limit_in_bytes", "memory.usage_in_bytes" },
	};
	size_t least = (size_t)-1, i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		least = memory_available_smaller_of(
			least, cgroup_smallest("memory", files[i][0], files[i][1]));
	return least;
}

/* What a limit leaves after what is taken, and 64 MiB for what a library maps later. */
static size_t memory_available_rest(size_t limit, size_t taken)
{
	taken += (size_t)64 * MIB;
	return limit > taken ? limit - taken : 0;
}

static size_t memory_available_below(int limit_of, const char *mapped)
{
	struct rlimit limit;

	if (getrlimit(limit_of, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return (size_t)-1;
	return memory_available_rest((size_t)limit.rlim_cur,
				     sysfile_kib("/proc/self/status", mapped));
}

/* Where vm.overcommit_memory is 2 the kernel promises no more than its limit. */
static size_t memory_available_to_commit(void)
{
	char mode[SYSLINE_MAX];

	if (!sysfile_line(mode, "/proc/sys/vm/overcommit_memory") || atoi(mode) != 2)
		return (size_t)-1;
	return memory_available_rest(sysfile_kib("/proc/meminfo", "CommitLimit"),
				     sysfile_kib("/proc/meminfo", "Committed_AS"));
}

static const char *memory_available_source = "";

const char *memory_available_by(void)
{
	return memory_available_source;
}

size_t memory_available(void)
{
	const struct {
		size_t bytes;
		const char *by;
	} limits[] = {
		{ memory_available_by_meminfo(), "" },
		{ memory_available_on_allowed(), " (on the NUMA domains that may be used)" },
		{ memory_available_in_cgroup(), " (the cgroup's limit)" },
		{ memory_available_below(RLIMIT_AS, "VmSize"), " (ulimit -v)" },
		{ memory_available_below(RLIMIT_DATA, "VmData"), " (ulimit -d)" },
		{ memory_available_to_commit(), " (vm.overcommit_memory is 2)" },
	};
	size_t least = (size_t)-1, i;

	memory_available_source = "";
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (limits[i].bytes >= least)
			continue;
		least = limits[i].bytes;
		memory_available_source = limits[i].by;
	}
	return least;
}
