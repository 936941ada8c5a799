#include "topology.h"

#include "sysfile.h"

#include <stdlib.h>

static int first_sibling(int cpu)
{
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
			  cpu))
		return cpu;
	return atoi(line);
}

int topology_core(int cpu)
{
	static int known[CPUS_MAX]; /* core + 1: sampling must not read files each time */

	if (cpu < 0 || cpu >= CPUS_MAX)
		return 0;
	if (!known[cpu])
		known[cpu] = first_sibling(cpu) + 1;
	return known[cpu] - 1;
}

int topology_cores(const struct cpuset *cpus)
{
	struct cpuset cores;
	int cpu;

	cpuset_clear(&cores);
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpuset_has(cpus, cpu))
			cpuset_add(&cores, topology_core(cpu));
	return cpuset_count(&cores);
}

int topology_domain(int cpu)
{
	char line[SYSLINE_MAX];
	struct cpuset cpus, domains;
	int domain;

	sysfile_line(line, "/sys/devices/system/node/online");
	cpuset_parse(&domains, line);
	for (domain = 0; domain < CPUS_MAX; domain++) {
		if (!cpuset_has(&domains, domain))
			continue;
		sysfile_line(line, "/sys/devices/system/node/node%d/cpulist", domain);
		cpuset_parse(&cpus, line);
		if (cpuset_has(&cpus, cpu))
			return domain;
	}
	return 0;
}

void topology_domains(struct cpuset *domains, const struct cpuset *cpus)
{
	int cpu;

	cpuset_clear(domains);
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpuset_has(cpus, cpu))
			cpuset_add(domains, topology_domain(cpu));
}
