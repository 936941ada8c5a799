#include "llc.h"

#include "../fault.h"
#include "../sysfile.h"

#include <unistd.h>

enum { INDEXES = 10 }; /* of the caches of a CPU: four levels, instructions apart */

static const char LLC_SYSFS[] = "/sys/devices/system/cpu/cpu%d/cache/index%d/%s";

static size_t llc_size_bytes(const char *text)
{
	char *unit;
	const size_t size = strtoull(text, &unit, 10);

	return *unit == 'M' ? size << 20 : *unit == 'K' ? size << 10 : size;
}

/* The index of the highest data cache of a CPU, -1 where sysfs has none. */
static int llc_last_level(int cpu)
{
	char line[SYSLINE_MAX];
	int index, highest = -1, level = 0;

	for (index = 0; index < INDEXES; index++) {
		int this_level;

		if (!sysfile_line(line, LLC_SYSFS, cpu, index, "level"))
			continue; /* the firmware may leave one out */
		this_level = atoi(line);
		sysfile_line(line, LLC_SYSFS, cpu, index, "type");
		if (this_level > level && strcmp(line, "Instruction") != 0) {
			level = this_level;
			highest = index;
		}
	}
	return highest;
}

/* The kernel of POWER9 writes the mask and no list. */
static void llc_sharers_of(struct cpuset *sharers, int cpu, int index)
{
	char line[SYSLINE_MAX];

	if (sysfile_line(line, LLC_SYSFS, cpu, index, "shared_cpu_list"))
		cpuset_parse(sharers, line);
	else if (sysfile_line(line, LLC_SYSFS, cpu, index, "shared_cpu_map"))
		cpuset_parse_mask(sharers, line);
	else
		cpuset_clear(sharers);
}

size_t llc_bytes(const struct cpuset *cpus, int (*users)(const struct cpuset *sharers))
{
	struct cpuset counted, sharers;
	char line[SYSLINE_MAX];
	size_t sum = 0;
	int cpu;

	cpuset_clear(&counted);
	EACH_OF_SET (cpu, cpus) {
		const int index = cpuset_has(&counted, cpu) ? -1 : llc_last_level(cpu);

		if (index < 0)
			continue;
		llc_sharers_of(&sharers, cpu, index);
		cpuset_join(&counted, &sharers);
		if (sysfile_line(line, LLC_SYSFS, cpu, index, "size"))
			sum += llc_size_bytes(line) / (size_t)(users ? users(&sharers) : 1);
	}
	return sum;
}

static int llc_sockets_by_cpuinfo(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[1024];
	int socket, most = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "physical id : %d", &socket) == 1 && socket > most)
			most = socket;
	if (file)
		fclose(file);
	return most + 1;
}

size_t llc_bytes_at_most(void)
{
	long bytes = 0;

#ifdef _SC_LEVEL3_CACHE_SIZE
	bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
	if (bytes <= 0)
		bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	return fault_llc(bytes > 0 ? (size_t)bytes * (size_t)llc_sockets_by_cpuinfo() : 0);
}

static int llc_read_first_cpu(int cpu)
{
	const int index = llc_last_level(cpu);
	struct cpuset sharers;

	if (index < 0)
		return -1;
	llc_sharers_of(&sharers, cpu, index);
	return cpuset_next(&sharers, -1);
}

int llc_first_cpu(int cpu)
{
	static int known[CPUS_MAX]; /* first + 2: each pair of a matrix asks */

	if (cpu < 0 || cpu >= CPUS_MAX)
		return -1;
	if (!known[cpu])
		known[cpu] = llc_read_first_cpu(cpu) + 2;
	return known[cpu] - 2;
}
