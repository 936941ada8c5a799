#include "topology.h"

#include "../error.h"
#include "../sysfile.h"

int topology_known(int known[CPUS_MAX], int cpu, int (*read)(int cpu))
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return -1;
	if (!known[cpu])
		known[cpu] = read(cpu) + 2;
	return known[cpu] - 2;
}

static int topology_first_sibling(int cpu)
{
	char line[SYSLINE_MAX];

	if (sysfile_line(line, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		return atoi(line);
	return cpu;
}

int topology_core(int cpu)
{
	static int known[CPUS_MAX];

	return topology_known(known, cpu, topology_first_sibling);
}

int topology_one_per_core(int cores[CPUS_MAX], const struct cpuset *cpus)
{
	struct cpuset taken;
	int cpu, count = 0;

	cpuset_clear(&taken);
	EACH_OF_SET (cpu, cpus) {
		if (cpuset_has(&taken, topology_core(cpu)))
			continue;
		cpuset_add(&taken, topology_core(cpu));
		cores[count++] = cpu;
	}
	return count;
}

/* The machine would have fewer domains than it has. */
static void topology_list(struct cpuset *set, const char *line)
{
	if (!cpuset_parse(set, line) && line[strspn(line, " ")])
		die("'%.40s' is no list of NUMA domains or CPUs",
		    "/sys/devices/system/node has it: what does 'numactl -H' say?", line);
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
	static int known[CPUS_MAX];

	return topology_known(known, cpu, topology_read_socket);
}

int topology_sockets(const struct cpuset *cpus)
{
	return topology_numbers_of(cpus, topology_socket);
}

void topology_all_domains(struct cpuset *domains)
{
	char line[SYSLINE_MAX];

	sysfile_line(line, "/sys/devices/system/node/online");
	topology_list(domains, line);
}

/* Read once: on a node of hundreds of CPUs, asking for each is millions of reads. */
static struct {
	int lowest; /* of the domains that are online */
	struct cpuset *cpus[DOMAINS_MAX], all;
} topology_of_domains;

static void topology_read_domains(void)
{
	char line[SYSLINE_MAX];
	struct cpuset domains;
	int d;

	topology_all_domains(&domains);
	topology_of_domains.lowest = cpuset_count(&domains) ? cpuset_next(&domains, -1) : 0;
	EACH_OF_SET (d, &domains) {
		if (d >= DOMAINS_MAX)
			break;
		topology_of_domains.cpus[d] = room_for(1, sizeof(domains), "domain", "free some");
		sysfile_line(line, "/sys/devices/system/node/node%d/cpulist", d);
		topology_list(topology_of_domains.cpus[d], line);
		cpuset_join(&topology_of_domains.all, topology_of_domains.cpus[d]);
	}
}

/* Its CPUs; NULL: there is no such domain. */
static const struct cpuset *topology_cpus_of(int domain)
{
	static int is_read;

	if (!is_read++)
		topology_read_domains();
	return domain >= 0 && domain < DOMAINS_MAX ? topology_of_domains.cpus[domain] : NULL;
}

int topology_domain_has_cpus(int domain)
{
	const struct cpuset *const cpus = topology_cpus_of(domain);

	return cpus && cpuset_count(cpus) > 0;
}

/* A CPU may be online where its domain, without memory, is not: it has no local memory, and
 * is counted to the lowest domain there is. */
int topology_is_in(int cpu, int domain)
{
	const struct cpuset *const cpus = topology_cpus_of(domain);

	return (cpus && cpuset_has(cpus, cpu)) || (domain == topology_of_domains.lowest &&
						   !cpuset_has(&topology_of_domains.all, cpu));
}

static int topology_read_domain(int cpu)
{
	int domain = 0;

	while (domain < DOMAINS_MAX - 1 && !topology_is_in(cpu, domain))
		domain++;
	return domain;
}

int topology_domain(int cpu)
{
	static int known[CPUS_MAX];

	return topology_known(known, cpu, topology_read_domain);
}

void topology_domains(struct cpuset *domains, const struct cpuset *cpus)
{
	int cpu, d;

	cpuset_clear(domains);
	EACH_OF_SET (cpu, cpus)
		for (d = topology_domain(cpu); d < DOMAINS_MAX; d++)
			if (topology_is_in(cpu, d))
				cpuset_add(domains, d);
}
