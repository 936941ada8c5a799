/*
 * caches: the last-level caches behind a set of CPUs, from sysfs.
 */
#ifndef MEMBW_CACHES_H
#define MEMBW_CACHES_H

#include "cpuset.h"

/* Bytes of every last-level cache that serves a CPU of the set, each counted
 * once however many CPUs share it; 0 where the kernel does not say.  Of a
 * cache that ranks of the same job share, this rank's part. */
size_t caches_llc_bytes(const struct cpuset *cpus);

#endif
