#include "topology.h"

#include "../sysfile.h"

static int topology_first_sibling(int cpu)
{
	char line[SYSLINE_MAX];

	if (sysfile_line(line, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		return atoi(line);
	return cpu;
}

int topology_core(int cpu)
{
	static int known[CPUS_MAX]; /* core + 1: sampling must not read files each time */

	if (cpu < 0 || cpu >= CPUS_MAX)
		return 0;
	if (!known[cpu])
		known[cpu] = topology_first_sibling(cpu) + 1;
	return known[cpu] - 1;
}

/* How many different numbers CPUs have. */
static int topology_numbers_of(const struct cpuset *cpus, int (*number)(int cpu))
{
	struct cpuset numbers;
	int cpu;

	cpuset_clear(&numbers);
	EACH_OF_SET (cpu, cpus)
		cpuset_add(&numbers, number(cpu));
	return cpuset_count(&numbers);
}

int topology_cores(const struct cpuset *cpus)
{
	return topology_numbers_of(cpus, topology_core);
}

/*
 * The lowest CPU of the package: firmware gives packages no numbers (-1: s390, POWER), or the same
 * ones in each NUMA domain (Itanium).
 */
static int topology_read_socket(int cpu)
{
	char line[SYSLINE_MAX];
	struct cpuset siblings;
	int first = -1;

	if (sysfile_line(line, "/sys/devices/system/cpu/cpu%d/topology/core_siblings", cpu)) {
		cpuset_parse_mask(&siblings, line);
		first = cpuset_next(&siblings, -1);
	}
	if (first >= 0)
		return first;
	if (!sysfile_line(line, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu))
		return -1;
	return atoi(line);
}

int topology_socket(int cpu)
{
	static int known[CPUS_MAX]; /* socket + 2 */

	if (cpu < 0 || cpu >= CPUS_MAX)
		return -1;
	if (!known[cpu])
		known[cpu] = topology_read_socket(cpu) + 2;
	return known[cpu] - 2;
}

int topology_sockets(const struct cpuset *cpus)
{
	return topology_numbers_of(cpus, topology_socket);
}

void topology_all_domains(struct cpuset *domains)
{
	char line[SYSLINE_MAX];

	sysfile_line(line, "/sys/devices/system/node/online");
	cpuset_parse(domains, line);
}

/* The CPUs of a domain; an empty set where it has none or there is no such domain. */
static void topology_cpus_of(struct cpuset *cpus, int domain)
{
	char line[SYSLINE_MAX];

	sysfile_line(line, "/sys/devices/system/node/node%d/cpulist", domain);
	cpuset_parse(cpus, line);
}

int topology_domain_has_cpus(int domain)
{
	struct cpuset cpus;

	topology_cpus_of(&cpus, domain);
	return cpuset_count(&cpus) > 0;
}

/* All at once: on a node of hundreds of CPUs, asking for each is millions of reads.
 * A CPU may be online where its domain, without memory, is not: it has no local memory, and
 * is counted to the lowest domain there is. */
static void topology_read_domains(short known[CPUS_MAX])
{
	struct cpuset cpus, domains;
	int domain, cpu, first;

	topology_all_domains(&domains);
	first = cpuset_count(&domains) ? cpuset_next(&domains, -1) : 0;
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		known[cpu] = (short)first;
	EACH_OF_SET (domain, &domains) {
		topology_cpus_of(&cpus, domain);
		EACH_OF_SET (cpu, &cpus)
			known[cpu] = (short)domain;
	}
}

int topology_domain(int cpu)
{
	static short known[CPUS_MAX];
	static int is_read;

	if (!is_read)
		topology_read_domains(known);
	is_read = 1;
	return cpu >= 0 && cpu < CPUS_MAX ? known[cpu] : 0;
}

void topology_domains(struct cpuset *domains, const struct cpuset *cpus)
{
	int cpu;

	cpuset_clear(domains);
	EACH_OF_SET (cpu, cpus)
		cpuset_add(domains, topology_domain(cpu));
}
