/*
 * llc: the last-level caches behind a set of CPUs.
 *
 * A cache is as large as the larger of what sysfs and CPUID (cpu_cache.h) say.  What sysconf says
 * counts where neither knows a third level: on a virtual machine it is the whole host socket's
 * (320 MiB were seen where 32 can be used).
 */
#pragma once

#include "cpu_cache.h"

enum llc_from { LLC_FROM_SYSFS, LLC_FROM_CPUID, LLC_FROM_SYSCONF, LLC_UNKNOWN };

/* Bytes of every last-level cache that serves a CPU of a set, each counted once however many CPUs
 * share it; 0: not known. */
struct llc {
	size_t bytes; /* what counts */
	enum llc_from from;
	size_t sysfs, cpuid;
	size_t sysconf; /* of all sockets of the node */
};

/* Of a cache that USERS processes of the same job use, this one's part; NULL: it is alone. */
LOCAL void llc_find(struct llc *llc, const struct cpuset *cpus,
		    int (*users)(const struct cpuset *sharers));

/* The lowest CPU of those that share this one's last-level cache, -1 where the kernel does not
 * say. */
LOCAL int llc_first_cpu(int cpu);

/* Bytes of the data caches of one CPU, from the first level to the last, by sysfs or the C
 * library, and the last one as llc_find() has it; returns how many. */
enum { LLC_LEVELS_MAX = 8 };
LOCAL int llc_levels(size_t bytes[LLC_LEVELS_MAX], int cpu);
