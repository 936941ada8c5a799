/*
 * interference: what other processes, a hypervisor, a quota or swapping took while we measured.
 *
 * From /proc/stat: the busy time of CPUs less the CPU time of this process (and of the other ranks
 * of its job on this host), and the time that a hypervisor stole.  A neighbour that uses memory
 * and none of our CPUs slows a rate, too, so the whole node counts: where other processes used
 * more than 5 % of its CPUs, or of many CPUs more than half of one, a rate is a lower bound
 * (rate.h): one core of 128 takes as much bandwidth as one of 4.  Interrupts and stolen time are
 * no processes, and count from 5 % on.  Under 0.1 s it is too little to tell, because the kernel
 * counts in hundredths of a second.  Threads that a cgroup's quota holds
 * back leave their CPUs idle: that is read off its cpu.stat; pages that were in swap off the major
 * faults of this process.
 */
#pragma once

#include "../machine/cpuset.h"

/* Seconds; all and steal summed over the CPUs that the threads may use, the rest over all CPUs. */
struct interference {
	double wall, own, all, steal;
	double node;           /* busy or stolen */
	double stolen, served; /* of that by a hypervisor, for interrupts */
	int cpus;              /* of the node */
	struct cpuset on;      /* those of the threads when the part began */
};

/* Of a part of the run: stop turns the readings into differences. */
LOCAL void interference_start(struct interference *part);
LOCAL void interference_stop(struct interference *part);

/* CPU seconds that other processes, or a hypervisor, took on the CPUs of the threads. */
LOCAL double interference_other_processes(const struct interference *part);

/* Seconds that a hypervisor has stolen of our CPUs so far, in ticks of the kernel. */
LOCAL double interference_stolen(void);

/* Of the run, with the neighbours (neighbours.h).  OF_JOB adds to this process's seconds those of
 * its job of so many RANKS on this host, below 0 where that is not known; NULL: it is alone.
 * Finds clock: more CPU time, of the threads or of all CPUs, than time went on. */
LOCAL void interference_run_start(void);
LOCAL void interference_run_stop(double (*of_job)(double own), int ranks);

/* Whether a rate of this run is but a lower bound: other processes used too much of the node's
 * CPUs, or how much is not known, or a quota or swapping kept the threads waiting. */
LOCAL int interference_is_loud(void);

/* Of a loud run: "; other processes used 79 % of the CPUs: a weak bound", of many CPUs "12.1 of
 * 256 CPUs"; or a hypervisor stole them. */
LOCAL const char *interference_text(void);

/* Warns of it. */
LOCAL void interference_judge(void);

/* What took the time, as far as is known: ", by the CPU quota ..., busiest meanwhile: ..."; "" if
 * none is known. */
LOCAL const char *interference_by(void);

/* Writes "busy" of the record. */
LOCAL void interference_write(void);
