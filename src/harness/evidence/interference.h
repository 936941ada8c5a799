/*
 * interference: CPU time that others took on our CPUs while we measured.
 *
 * From /proc/stat: the busy time of the CPUs that the threads may use, less
 * the CPU time of this process, plus the time that a hypervisor stole.  Above 5 % of the CPUs'
 * time the run counts as disturbed; a program that knows of each repetition what its threads lost
 * (lost_time.h) only warns, unless some of the CPUs have no thread of ours to notice it.  Under
 * 0.1 s it is too little to tell, because the kernel counts in hundredths of a second.  Threads
 * that a cgroup's quota holds back leave their CPUs idle: that is read off its cpu.stat; pages
 * that were in swap off the major faults of this process.
 */
#pragma once

/* Seconds; all but wall summed over the CPUs. */
struct interference {
	double wall, own, all, steal;
};

/* Of a part of the run: stop turns the readings into differences. */
LOCAL void interference_start(struct interference *part);
LOCAL void interference_stop(struct interference *part);

/* CPU seconds that others took, or a hypervisor. */
LOCAL double interference_others(const struct interference *part);

/* Seconds that a hypervisor has stolen of our CPUs so far, in ticks of the kernel. */
LOCAL double interference_stolen(void);

/* Of the run, with the neighbours (neighbours.h).  OF_JOB adds to this process's seconds those of
 * its job of so many RANKS on the same CPUs, below 0 where that is not known; NULL: it is alone.
 */
LOCAL void interference_run_start(void);
LOCAL void interference_run_stop(double (*of_job)(double own), int ranks);

/* Finds disturbed, by verdict_invalid or, where the threads notice it themselves, verdict_warn. */
LOCAL void interference_judge(void (*find)(int reason, const char *detail, ...));

/* By whom, as far as is known: ", by the CPU quota ..., busiest meanwhile: ..."; "" for nobody. */
LOCAL const char *interference_by(void);

/* Others' work, if any, did the figures no harm: no finding.  That nothing is known of it stays,
 * and a quota that throttles does, and swapping: unlike the weather they are there in each run,
 * and can be mended.
 */
LOCAL void interference_forgive(void);

/* Writes "busy" of the record. */
LOCAL void interference_write(void);
