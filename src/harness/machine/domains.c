#include "domains.h"

#include "../sysfile.h"

static int domain_says(char value[SYSLINE_MAX], int domain, const char *what)
{
	char path[64], key[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", domain);
	snprintf(key, sizeof(key), "Node %d %s", domain, what);
	return sysfile_field(value, path, key);
}

size_t domain_bytes(int domain, const char *what)
{
	char value[SYSLINE_MAX];

	return domain_says(value, domain, what) ? (size_t)strtoull(value, NULL, 10) << 10 : 0;
}

static void domains_read(struct cpuset *domains)
{
	char value[SYSLINE_MAX];
	struct cpuset online;
	int d;

	cpuset_clear(domains);
	topology_all_domains(&online);
	EACH_OF_SET (d, &online)
		if (!domain_says(value, d, "MemTotal") || strtoull(value, NULL, 10) > 0)
			cpuset_add(domains, d);
	if (!cpuset_count(domains))
		cpuset_add(domains, 0);
}

void domains_with_memory(struct cpuset *domains)
{
	static struct cpuset known;

	if (!cpuset_count(&known))
		domains_read(&known);
	*domains = known;
}

void domains_allowed(struct cpuset *domains)
{
	char list[SYSLINE_MAX];
	struct cpuset all, may;
	int d;

	domains_with_memory(&all);
	sysfile_field(list, "/proc/self/status", "Mems_allowed_list");
	cpuset_parse(&may, list);
	cpuset_clear(domains);
	EACH_OF_SET (d, &all)
		if (cpuset_has(&may, d))
			cpuset_add(domains, d);
	if (!cpuset_count(domains))
		*domains = all;
}

/* Distances are listed for the domains that are online, in their order. */
int domain_distance(int from, int to)
{
	char line[SYSLINE_MAX], *at = line, *end;
	struct cpuset online;
	int d;

	topology_all_domains(&online);
	sysfile_line(line, "/sys/devices/system/node/node%d/distance", from);
	EACH_OF_SET (d, &online) {
		const long distance = strtol(at, &end, 10);

		if (end == at)
			return 0;
		if (d == to)
			return (int)distance;
		at = end;
	}
	return 0;
}

void domain_nearest(struct cpuset *domains, int from)
{
	struct cpuset allowed;
	int d, nearest = 0;

	domains_allowed(&allowed);
	cpuset_clear(domains);
	if (cpuset_has(&allowed, from)) {
		cpuset_add(domains, from);
		return;
	}
	EACH_OF_SET (d, &allowed) {
		const int distance = domain_distance(from, d);

		if (nearest && distance > nearest)
			continue;
		if (distance < nearest)
			cpuset_clear(domains);
		nearest = distance;
		cpuset_add(domains, d);
	}
}

void domains_local(struct cpuset *domains, const struct cpuset *cpus)
{
	struct cpuset own, nearest;
	int d;

	topology_domains(&own, cpus);
	cpuset_clear(domains);
	EACH_OF_SET (d, &own) {
		domain_nearest(&nearest, d);
		cpuset_join(domains, &nearest);
	}
}

/* Intel ARK, Xeon Phi x200 (Knights Landing, Mill): 16 GB of MCDRAM in each;
 * the kernel does not show what of it is cache, and the rest is domains
 * without CPUs. */
static const size_t DOMAIN_GIB = (size_t)1 << 30, DOMAIN_MCDRAM_GIB = 16;

static int domains_are_knights(void)
{
	const size_t model = sysfile_number("/proc/cpuinfo", "model");

	return sysfile_number("/proc/cpuinfo", "cpu family") == 6 &&
	       (model == 0x57 || model == 0x85);
}

/* The largest, should there be several levels of it. */
static size_t domain_side_cache(int domain)
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
static size_t domains_mcdram(const struct cpuset *domains)
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
	flat = (flat + DOMAIN_GIB / 2) / DOMAIN_GIB; /* the kernel keeps some MiB of each domain */
	if (!with_cpus || flat >= DOMAIN_MCDRAM_GIB)
		return 0;
	return (DOMAIN_MCDRAM_GIB - flat) * DOMAIN_GIB / with_cpus * requested;
}

size_t domains_side_cache(const struct cpuset *domains)
{
	size_t sum = 0;
	int domain;

	EACH_OF_SET (domain, domains)
		sum += domain_side_cache(domain);
	return sum || !domains_are_knights() ? sum : domains_mcdram(domains);
}
