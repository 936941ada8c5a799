/*
 * memory_available: how many bytes this process may still take.
 */
#pragma once

#include "cpuset.h"

/* The smallest of MemAvailable, what is free on the NUMA domains that a memory policy (numactl
 * --membind) or a cpuset leaves, and what the cgroups (v1 or v2, this one and those above it),
 * ulimit -v, ulimit -d and strict overcommit leave of what is not taken; (size_t)-1 where the
 * kernel says none. */
LOCAL size_t memory_available(void);

/* Bytes that these NUMA domains have; 0 where they do not say. */
LOCAL size_t memory_total_on(const struct cpuset *domains);

/* The smallest limit of the cgroups themselves; (size_t)-1 for none. */
LOCAL size_t memory_cgroup_limit(void);

/* " (the cgroup's limit)" and the like, of what memory_available() returned last; "" where it is
 * the machine's. */
LOCAL const char *memory_available_by(void);
