#include "cpuset.h"

#include "../sysfile.h"

void cpuset_clear(struct cpuset *set)
{
	memset(set, 0, sizeof(*set));
}

void cpuset_add(struct cpuset *set, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MAX)
		CPU_SET_S(cpu, sizeof(*set), set->part);
}

int cpuset_has(const struct cpuset *set, int cpu)
{
	return cpu >= 0 && cpu < CPUS_MAX && CPU_ISSET_S(cpu, sizeof(*set), set->part) != 0;
}

int cpuset_count(const struct cpuset *set)
{
	return CPU_COUNT_S(sizeof(*set), set->part);
}

int cpuset_next(const struct cpuset *set, int after)
{
	while (++after < CPUS_MAX)
		if (cpuset_has(set, after))
			return after;
	return -1;
}

void cpuset_join(struct cpuset *set, const struct cpuset *more)
{
	CPU_OR_S(sizeof(*set), set->part, set->part, more->part);
}

void cpuset_of_thread(struct cpuset *set)
{
	char list[SYSLINE_MAX];

	cpuset_clear(set);
	if (sched_getaffinity(0, sizeof(*set), set->part) >= 0)
		return;
	sysfile_field(list, "/proc/thread-self/status", "Cpus_allowed_list");
	cpuset_parse(set, list);
	if (!cpuset_count(set))
		cpuset_online(set);
}

void cpuset_bind(const struct cpuset *set)
{
	sched_setaffinity(0, sizeof(*set), set->part);
}

void cpuset_pin(int cpu)
{
	struct cpuset one;

	cpuset_clear(&one);
	cpuset_add(&one, cpu);
	cpuset_bind(&one);
}

void cpuset_online(struct cpuset *set)
{
	char line[SYSLINE_MAX];
	struct cpuset own;

	cpuset_clear(&own);
	sysfile_line(line, "/sys/devices/system/cpu/online");
	cpuset_parse(set, line);
	if (sched_getaffinity(0, sizeof(own), own.part) >= 0)
		cpuset_join(set, &own);
}

int cpuset_parse(struct cpuset *set, const char *list)
{
	cpuset_clear(set);
	while (*list >= '0' && *list <= '9') {
		char *end;
		long cpu = strtol(list, &end, 10);
		const long last = *end == '-' ? strtol(end + 1, &end, 10) : cpu;

		for (; cpu <= last && cpu < CPUS_MAX; cpu++)
			cpuset_add(set, (int)cpu);
		list = end + strspn(end, ", ");
	}
	return cpuset_count(set);
}

const char *cpuset_format(const struct cpuset *set, char text[CPU_LIST_MAX])
{
	size_t used = 0;
	int cpu, last;

	text[0] = '\0';
	for (cpu = 0; cpu < CPUS_MAX; cpu = last + 1) {
		last = cpu;
		if (!cpuset_has(set, cpu))
			continue;
		while (cpuset_has(set, last + 1))
			last++;
		if (used + 32 > CPU_LIST_MAX) {
			snprintf(text + used, CPU_LIST_MAX - used, ",...");
			break;
		}
		used += (size_t)snprintf(text + used, CPU_LIST_MAX - used, used ? ",%d" : "%d",
					 cpu);
		if (last > cpu)
			used += (size_t)snprintf(text + used, CPU_LIST_MAX - used, "-%d", last);
	}
	return text;
}

int cpuset_parse_mask(struct cpuset *set, const char *mask)
{
	const char *at = mask + strlen(mask);
	int first = 0, bit;

	cpuset_clear(set);
	while (at > mask && first < CPUS_MAX) {
		unsigned long word;

		while (at > mask && at[-1] != ',')
			at--;
		word = strtoul(at, NULL, 16);
		for (bit = 0; bit < 32; bit++)
			if (word >> bit & 1)
				cpuset_add(set, first + bit);
		first += 32;
		at -= at > mask;
	}
	return cpuset_count(set);
}
