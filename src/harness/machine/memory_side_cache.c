#include "memory_side_cache.h"

#include "../sysfile.h"
#include "domains.h"

/* Intel ARK, Xeon Phi x200 (Knights Landing, Mill): 16 GB of MCDRAM in each;
 * the kernel does not show what of it is cache, and the rest is domains
 * without CPUs. */
static const size_t MEMORY_SIDE_CACHE_GIB = (size_t)1 << 30, MEMORY_SIDE_CACHE_MCDRAM_GIB = 16;

static int memory_side_cache_is_knights(void)
{
	const size_t model = sysfile_number("/proc/cpuinfo", "model");

	return sysfile_number("/proc/cpuinfo", "cpu family") == 6 &&
	       (model == 0x57 || model == 0x85);
}

/* The largest, should there be several levels of it. */
static size_t memory_side_cache_shown(int domain)
{
	char line[SYSLINE_MAX];
	size_t largest = 0;
	int level;

	for (level = 1; sysfile_line(line,
				     "/sys/devices/system/node/node%d/memory_side_cache/"
				     "index%d/size",
				     domain, level);
	     level++)
		if (strtoull(line, NULL, 10) > largest)
			largest = strtoull(line, NULL, 10);
	return largest;
}

/* What is no domain's memory is cache, shared evenly by the domains with CPUs. */
static size_t memory_side_cache_of_knights(const struct cpuset *domains)
{
	struct cpuset all;
	size_t flat = 0, with_cpus = 0, requested = 0;
	int domain;

	topology_all_domains(&all);
	EACH_OF_SET (domain, &all) {
		if (topology_domain_has_cpus(domain)) {
			with_cpus++;
			requested += (size_t)cpuset_has(domains, domain);
			continue;
		}
		flat += domain_bytes(domain, "MemTotal");
	}
	flat = (flat + MEMORY_SIDE_CACHE_GIB / 2) /
	       MEMORY_SIDE_CACHE_GIB; /* the kernel keeps some MiB of each domain */
	if (!with_cpus || flat >= MEMORY_SIDE_CACHE_MCDRAM_GIB)
		return 0;
	return (MEMORY_SIDE_CACHE_MCDRAM_GIB - flat) * MEMORY_SIDE_CACHE_GIB / with_cpus *
	       requested;
}

size_t memory_side_bytes(const struct cpuset *domains)
{
	size_t sum = 0;
	int domain;

	EACH_OF_SET (domain, domains)
		sum += memory_side_cache_shown(domain);
	return sum || !memory_side_cache_is_knights() ? sum
						      : memory_side_cache_of_knights(domains);
}
