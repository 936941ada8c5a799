/*
 * llc: the last-level caches behind a set of CPUs, from sysfs.
 */
#pragma once

#include "cpuset.h"

/* Bytes of every last-level cache that serves a CPU of the set, each counted
 * once however many CPUs share it; 0 where the kernel does not say.  Of a
 * cache that USERS processes of the same job use, this one's part; NULL: it is alone. */
LOCAL size_t llc_bytes(const struct cpuset *cpus, int (*users)(const struct cpuset *sharers));

/* Where sysfs has none, as in containers that mask it: what the C library is told by the CPU (of
 * a socket; a virtual machine may have less of it), times the sockets of /proc/cpuinfo; 0: not
 * known either. */
LOCAL size_t llc_bytes_at_most(void);

/* The lowest CPU of those that share this one's last-level cache, -1 where the kernel does not
 * say. */
LOCAL int llc_first_cpu(int cpu);
