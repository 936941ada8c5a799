/*
 * cpuset: a set of CPUs by number, as Linux numbers them, up to 8192.
 */
#pragma once

#include "../config.h"

#include <sched.h>

enum { CPUS_MAX = 8 * CPU_SETSIZE, CPU_LIST_MAX = 3 * CPUS_MAX };

struct cpuset {
	cpu_set_t part[8];
};

LOCAL void cpuset_clear(struct cpuset *set);
LOCAL void cpuset_add(struct cpuset *set, int cpu);
LOCAL int cpuset_has(const struct cpuset *set, int cpu);
LOCAL int cpuset_count(const struct cpuset *set);

/* The lowest number of the set above AFTER, -1 where there is none. */
LOCAL int cpuset_next(const struct cpuset *set, int after);
#define EACH_OF_SET(number, set) \
	for ((number) = cpuset_next(set, -1); (number) >= 0; (number) = cpuset_next(set, number))

LOCAL void cpuset_join(struct cpuset *set, const struct cpuset *more);

/* The CPUs that the calling thread may run on: by the kernel, where a filter refuses that by
 * /proc, else all that are online. */
LOCAL void cpuset_of_thread(struct cpuset *set);

/* From now on the calling thread may run on these alone; on this one alone. */
LOCAL void cpuset_bind(const struct cpuset *set);
LOCAL void cpuset_pin(int cpu);

/* Those that are online: by sysfs, and those that this thread may use (lxcfs has a container's own
 * numbers in sysfs). */
LOCAL void cpuset_online(struct cpuset *set);

/* Reads "0-3,8": sysfs's and taskset's notation; returns how many CPUs. */
LOCAL int cpuset_parse(struct cpuset *set, const char *list);

/* Writes the same notation; the longest, every second CPU, fits. */
LOCAL const char *cpuset_format(const struct cpuset *set, char text[CPU_LIST_MAX]);

/* Reads "ffff,00000001": sysfs's masks, words of 32 bits, the lowest last. */
LOCAL int cpuset_parse_mask(struct cpuset *set, const char *mask);
