/*
 * domains: the NUMA domains by the kernel's own numbers: their memory, their distances, and which
 * memory is local to a CPU, and which caches are in front of it.
 *
 * A domain of 0 kB has no memory.  To CPUs in such a domain the nearest is local that has some:
 * each of them where several are as near, as it is not known which of these the kernel takes.
 */
#pragma once

#include "topology.h"

/* What a line of the domain's meminfo says, in bytes; 0 where there is none. */
LOCAL size_t domain_bytes(int domain, const char *what);

/* Those with memory; domain 0 on a kernel without NUMA. */
LOCAL void domains_with_memory(struct cpuset *domains);

/* Those with memory from which this process may take some (cpuset.mems). */
LOCAL void domains_allowed(struct cpuset *domains);

/* As firmware has it (SLIT), 10 within a domain; 0 where the kernel does not say. */
LOCAL int domain_distance(int from, int to);

/* The nearest of the allowed domains: the domain itself where it is one of them. */
LOCAL void domain_nearest(struct cpuset *domains, int from);

/* The domains whose memory is local to these CPUs. */
LOCAL void domains_local(struct cpuset *domains, const struct cpuset *cpus);

/* Bytes of the caches that belong to these domains' memory, not to CPUs: HBM in front of DDR (Xeon
 * Max and Knights Landing in cache mode) or DRAM in front of Optane.  Data goes through it, so it
 * is the last level, and the rule of four times the caches means it.  Linux shows it where the
 * firmware does (ACPI HMAT).  0: none. */
LOCAL size_t domains_side_cache(const struct cpuset *domains);
