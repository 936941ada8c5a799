/*
 * busy: CPU time that others took on our CPUs while we measured.
 *
 * From /proc/stat: the busy time of the CPUs that the threads may use, less
 * the CPU time of this process (and of ranks of its job on them), plus the time that a hypervisor
 * stole.  Above 5 % of the CPUs' time the run counts as disturbed; under 0.1 s it is too little to
 * tell, because the kernel counts in hundredths of a second.
 */
#ifndef MEMBW_BUSY_H
#define MEMBW_BUSY_H

#include "../machine/cpuset.h"

struct busy {
	double wall, own, all, steal; /* seconds; all but wall summed over the CPUs */
};

void busy_start(struct busy *busy, const struct cpuset *cpus);

/* Turns the readings into differences; finds disturbed. */
void busy_stop(struct busy *busy, const struct cpuset *cpus);

/* The part of the CPUs' time that was not ours, 0 to 1. */
double busy_share(const struct busy *busy, const struct cpuset *cpus);

#endif
