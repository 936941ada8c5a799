#include "cpu_cache.h"

#include "../sysfile.h"
#include "cpu_width.h"

#if defined(__x86_64__) && !defined(__MIC__)

/* Caches of one CPU; leaf 4 of Intel and 0x8000001D of AMD. */
enum { SUBLEAVES = 8, INTEL_LEAF = 4, INSTRUCTIONS = 2 };
#define AMD_LEAF 0x8000001du
#define EXTENDED_MOST 0x80000000u

static int cpu_cache_has_leaf(unsigned leaf)
{
	unsigned reg[4];

	cpu_id(leaf & EXTENDED_MOST, 0, reg);
	return reg[0] >= leaf;
}

/* The highest data cache of a leaf; SHARE becomes how many ids share it. */
static void cpu_cache_read_leaf(struct cache *cache, unsigned *share, unsigned leaf)
{
	unsigned n, reg[4];

	for (n = 0; n < SUBLEAVES && cpu_cache_has_leaf(leaf); n++) {
		cpu_id(leaf, n, reg);
		if (!(reg[0] & 31))
			return;
		if ((reg[0] & 31) == INSTRUCTIONS || (int)(reg[0] >> 5 & 7) <= cache->level)
			continue;
		cache->level = (int)(reg[0] >> 5 & 7);
		cache->bytes = (size_t)((reg[1] >> 22) + 1) * ((reg[1] >> 12 & 1023) + 1) *
			       ((reg[1] & 4095) + 1) * ((size_t)reg[2] + 1);
		*share = (reg[0] >> 14 & 4095) + 1;
	}
}

/* APIC id + 1 of each CPU, 0: not known. */
static const unsigned *cpu_cache_apic_ids(void)
{
	static unsigned ids[CPUS_MAX];
	static int is_read;
	FILE *const file = is_read++ ? NULL : sysfile_open("/proc/cpuinfo");
	char line[4096];
	unsigned id;
	int cpu = -1;

	while (sysfile_next(file, line, sizeof(line))) {
		if (sscanf(line, "processor : %d", &cpu) == 1)
			continue;
		if (cpu >= 0 && cpu < CPUS_MAX && sscanf(line, "apicid : %u", &id) == 1)
			ids[cpu] = id + 1;
	}
	return ids;
}

void cpu_cache(struct cache *cache, int cpu)
{
	const unsigned *const ids = cpu_cache_apic_ids();
	unsigned share = 1, shift = 0;
	int other;

	memset(cache, 0, sizeof(*cache));
	cpu_cache_read_leaf(cache, &share, INTEL_LEAF);
	cpu_cache_read_leaf(cache, &share, AMD_LEAF);
	while (1u << shift < share)
		shift++;
	for (other = 0; other < CPUS_MAX && ids[cpu]; other++)
		if (ids[other] && (ids[other] - 1) >> shift == (ids[cpu] - 1) >> shift)
			cpuset_add(&cache->sharers, other);
	cpuset_add(&cache->sharers, cpu);
}

#else

void cpu_cache(struct cache *cache, int cpu)
{
	(void)cpu;
	memset(cache, 0, sizeof(*cache));
}

#endif
