/*
 * migrated: pages that the kernel moved between domains, of the whole node.
 *
 * From /proc/vmstat: pgmigrate_success counts every migration (NUMA balancing, compaction, DAMON,
 * migratepages), numa_pages_migrated and pgdemote_* parts of it that some kernels count alone.
 */
#pragma once

#include "../harness/config.h"

/* The largest of these counts so far; 0 where the kernel does not count. */
unsigned long long migrated_pages(void);
