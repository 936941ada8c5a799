#include "llc.h"

#include "../sysfile.h"
#include "topology.h"

#include <unistd.h>

/* INDEXES: of the caches of a CPU: four levels, instructions apart. */
enum { THIRD_LEVEL = 3, INDEXES = 10 };

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

/* Level 0: sysfs has none. */
static void llc_cache_by_sysfs(struct cache *cache, int cpu)
{
	const int index = llc_last_level(cpu);
	char line[SYSLINE_MAX];

	memset(cache, 0, sizeof(*cache));
	if (index < 0)
		return;
	if (sysfile_line(line, LLC_SYSFS, cpu, index, "level"))
		cache->level = atoi(line);
	if (sysfile_line(line, LLC_SYSFS, cpu, index, "size"))
		cache->bytes = llc_size_bytes(line);
	llc_sharers_of(&cache->sharers, cpu, index);
}

/* Of level 1 alone: nothing is known, as POWER7's kernel leaves out its L3. */
enum { LEAST_LEVEL = 2 };

/* The caches behind a set of CPUs by one source or by the larger of both, each counted once. */
struct llc_caches {
	struct cpuset counted;
	size_t sum;
	int level;
};

static void llc_add_cache(struct llc_caches *caches, const struct cache *cache, int cpu,
			  int (*users)(const struct cpuset *sharers))
{
	if (cpuset_has(&caches->counted, cpu) || cache->level < LEAST_LEVEL)
		return;
	cpuset_join(&caches->counted, &cache->sharers);
	caches->sum += cache->bytes / (size_t)(users ? users(&cache->sharers) : 1);
	if (cache->level > caches->level)
		caches->level = cache->level;
}

/* Of all sockets; 0: the C library does not know. */
static size_t llc_bytes_by_sysconf(void)
{
	struct cpuset online;
	size_t sockets;
	long bytes = 0;

#ifdef _SC_LEVEL3_CACHE_SIZE
	bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
	if (bytes <= 0)
		bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	cpuset_online(&online);
	sockets = (size_t)topology_sockets(&online);
	return bytes > 0 ? (size_t)bytes * (sockets ? sockets : 1) : 0;
}

void llc_find(struct llc *llc, const struct cpuset *cpus,
	      int (*users)(const struct cpuset *sharers))
{
	static const struct llc_caches none;
	struct llc_caches sysfs = none, cpuid = none, larger = none;
	int cpu;

	EACH_OF_SET (cpu, cpus) {
		struct cache by_sysfs, by_cpuid;

		if (cpuset_has(&sysfs.counted, cpu) && cpuset_has(&larger.counted, cpu))
			continue;
		llc_cache_by_sysfs(&by_sysfs, cpu);
		cpu_cache(&by_cpuid, cpu);
		llc_add_cache(&sysfs, &by_sysfs, cpu, users);
		llc_add_cache(&cpuid, &by_cpuid, cpu, users);
		llc_add_cache(&larger, by_cpuid.bytes > by_sysfs.bytes ? &by_cpuid : &by_sysfs,
			      cpu, users);
	}
	llc->sysfs = sysfs.sum;
	llc->cpuid = cpuid.sum;
	llc->sysconf = llc_bytes_by_sysconf();
	llc->bytes = larger.sum;
	llc->from = larger.sum > sysfs.sum ? LLC_FROM_CPUID : LLC_FROM_SYSFS;
	if (larger.level < THIRD_LEVEL && llc->sysconf > llc->bytes) {
		llc->bytes = llc->sysconf;
		llc->from = LLC_FROM_SYSCONF;
	}
	if (!llc->bytes)
		llc->from = LLC_UNKNOWN;
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
	static int known[CPUS_MAX];

	return topology_known(known, cpu, llc_read_first_cpu);
}

static int llc_levels_by_sysfs(size_t bytes[LLC_LEVELS_MAX], int cpu)
{
	char line[SYSLINE_MAX];
	int index, count = 0;

	for (index = 0; index < INDEXES && count < LLC_LEVELS_MAX; index++)
		if (sysfile_line(line, LLC_SYSFS, cpu, index, "type") &&
		    strcmp(line, "Instruction") != 0 &&
		    sysfile_line(line, LLC_SYSFS, cpu, index, "size"))
			bytes[count++] = llc_size_bytes(line);
	return count;
}

static int llc_levels_by_sysconf(size_t bytes[LLC_LEVELS_MAX])
{
	int count = 0;

#ifdef _SC_LEVEL2_CACHE_SIZE
	if (sysconf(_SC_LEVEL1_DCACHE_SIZE) > 0)
		bytes[count++] = (size_t)sysconf(_SC_LEVEL1_DCACHE_SIZE);
	if (sysconf(_SC_LEVEL2_CACHE_SIZE) > 0)
		bytes[count++] = (size_t)sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
	(void)bytes;
#endif
	return count;
}

int llc_levels(size_t bytes[LLC_LEVELS_MAX], int cpu)
{
	int count = llc_levels_by_sysfs(bytes, cpu);
	struct cpuset one;
	struct llc llc;

	cpuset_clear(&one);
	cpuset_add(&one, cpu);
	llc_find(&llc, &one, NULL);
	if (!count)
		count = llc_levels_by_sysconf(bytes);
	if (llc.bytes && (!count || llc.bytes > bytes[count - 1]) && count < LLC_LEVELS_MAX) {
		/* a third level that sysfs has too small, or not at all */
		count -= count >= THIRD_LEVEL;
		bytes[count++] = llc.bytes;
	}
	return count;
}
