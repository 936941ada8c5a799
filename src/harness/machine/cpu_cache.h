/*
 * cpu_cache: the last-level cache as an x86 CPU itself describes it, by CPUID.
 *
 * Sources: Intel's manual, volume 2, CPUID leaf 4; AMD's, volume 3, CPUID 0x8000001D, which has
 * the same layout.  CPUs share a cache where their APIC ids (/proc/cpuinfo) agree but for the low
 * bits that the leaf counts.
 */
#pragma once

#include "cpuset.h"

/* A cache and the CPUs that share it; level 0: none. */
struct cache {
	size_t bytes;
	int level;
	struct cpuset sharers;
};

/* That of CPU; level 0 where CPUID does not say, as on every other architecture. */
LOCAL void cpu_cache(struct cache *cache, int cpu);
