/*
 * interference: CPU time that others took on our CPUs while we measured.
 *
 * From /proc/stat: the busy time of the CPUs that the threads may use, less
 * the CPU time of this process, plus the time that a hypervisor stole.  Above 5 % of the CPUs'
 * time the run counts as disturbed; a program that knows of each repetition what its threads lost
 * (lost_time.h) only warns, unless some of the CPUs have no thread of ours to notice it.  Under
 * 0.1 s it is too little to tell, because the kernel counts in hundredths of a second.
 */
#ifndef MEMBW_INTERFERENCE_H
#define MEMBW_INTERFERENCE_H

#include "../machine/cpuset.h"

struct interference {
	double wall, own, all, steal; /* seconds; all but wall summed over the CPUs */
	int owner_unknown;            /* other ranks on these CPUs did not answer */
};

void interference_start(struct interference *interference, const struct cpuset *cpus);

/* Seconds that a hypervisor has stolen of these CPUs so far, in ticks of the kernel. */
double interference_stolen(const struct cpuset *cpus);

/* Turns the readings into differences.  OF_JOB adds to this process's seconds
 * those of its job on the same CPUs, below 0 where that is not known; NULL: it is alone. */
void interference_stop(struct interference *interference, const struct cpuset *cpus,
		       double (*of_job)(double own));

/* Finds disturbed: a reason; a warning. */
void interference_judge(const struct interference *interference, const struct cpuset *cpus);
void interference_warn(const struct interference *interference, const struct cpuset *cpus);

/* Writes "busy" of the record. */
void interference_write(const struct interference *interference, const struct cpuset *cpus);

#endif
