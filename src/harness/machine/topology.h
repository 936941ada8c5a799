/*
 * topology: which CPUs are one core, and which NUMA domain they belong to.
 */
#pragma once

#include "cpuset.h"

/* The kernel numbers NUMA domains below this (CONFIG_NODES_SHIFT is 10 at most). */
enum { DOMAINS_MAX = 1024 };

/* What READ says of a CPU, from -1 on, read once: sampling and matrices ask often. */
LOCAL int topology_known(int known[CPUS_MAX], int cpu, int (*read)(int cpu));

/* The first CPU of the core that this CPU belongs to. */
LOCAL int topology_core(int cpu);

/* How many cores a set of CPUs has; the first CPU of each among these, rising: how many. */
LOCAL int topology_cores(const struct cpuset *cpus);
LOCAL int topology_one_per_core(int cores[CPUS_MAX], const struct cpuset *cpus);

/* The socket of a CPU: the first of the CPUs that the kernel says share its package, whatever
 * number firmware gives that; -1 where the kernel does not say. */
LOCAL int topology_socket(int cpu);

/* How many sockets, 0 where the kernel does not say. */
LOCAL int topology_sockets(const struct cpuset *cpus);

/* Whether a NUMA domain has this CPU: several may (numa=fake); 0 has all where the kernel knows
 * none. */
LOCAL int topology_is_in(int cpu, int domain);

/* The lowest of them. */
LOCAL int topology_domain(int cpu);

/* Every NUMA domain that is online, those without CPUs too. */
LOCAL void topology_all_domains(struct cpuset *domains);

LOCAL int topology_domain_has_cpus(int domain);

/* The NUMA domains of a set of CPUs. */
LOCAL void topology_domains(struct cpuset *domains, const struct cpuset *cpus);
