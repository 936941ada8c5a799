/*
 * memory: how many bytes this process may still take.
 */
#ifndef MEMBW_MEMORY_H
#define MEMBW_MEMORY_H

#include "config.h"

/* The smaller of MemAvailable and what the cgroups (v1 or v2, this one and
 * those above it) leave; (size_t)-1 where the kernel says neither. */
size_t memory_available(void);

/* The smallest limit of the cgroups themselves; (size_t)-1 for none. */
size_t memory_cgroup_limit(void);

#endif
