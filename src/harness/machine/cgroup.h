/*
 * cgroup: the limits that the control groups of this process set, v1 and v2.
 */
#pragma once

#include "../config.h"

/* The smallest value of FILE in the group of CONTROLLER and all groups above
 * it, less the value of USED there (NULL: nothing), of which the page cache gives way;
 * (size_t)-1 for no limit. */
LOCAL size_t cgroup_smallest(const char *controller, const char *file, const char *used);

/* CPUs' worth of time that the quota grants, 0 for no quota. */
LOCAL double cgroup_cpu_quota(void);

/* As many threads as it keeps running all the time: whole CPUs, at least 1; 0 for no quota. */
LOCAL int cgroup_whole_cpus(void);

/* Seconds for which a quota throttled tasks of this group or of one above so far, summed over
 * the CPUs; 0 where there is no quota. */
LOCAL double cgroup_throttled(void);
