/*
 * measure: runs the kernels in turn, NTIMES times, and keeps every time.
 */
#ifndef MEMBW_MEASURE_H
#define MEMBW_MEASURE_H

#include "search/kernel_choice.h"

/* A spread is the average of the times above the best, in parts of the best. */
enum { TICKS_AT_LEAST = 20, SPREAD_PERCENT = 20 };

struct timing {
	double *times;               /* seconds, ntimes of them */
	double best, average, worst; /* of all but the first */
	double best_mbs;             /* 10^6 bytes per second */
};

struct measurement {
	int ntimes;
	int complete; /* iterations measured on this rank, all kernels */
	int passed;   /* iterations that the arrays went through */
	double tick;  /* seconds, the clock's granularity */
	struct timing kernel[KERNELS];
};

/* Takes memory for the times; dies where there is none. */
void measure_prepare(struct measurement *measurement, int ntimes);

/* Runs and times.  In an MPI job every kernel begins with a barrier; a rank
 * that gives up ends the iteration untimed, so that the arrays can be checked. */
void measure(struct measurement *measurement, const struct kernel_choice *choice,
	     const struct arrays *arrays);

/* Best, average and worst of the complete runs but the first, each of so many
 * bytes; all 0 where fewer than two are complete. */
void measure_timing(struct timing *timing, int complete, double bytes);

/* The same of each kernel, of so many ranks with such arrays. */
void measure_summarize(struct measurement *measurement, size_t size, int ranks);

/* Finds too-good, also of a node whose ranks together are too good. */
void measure_judge_peak(const struct measurement *measurement);

/* Finds too-short, unstable and, where a peak is known, too-good. */
void measure_judge(const struct measurement *measurement);

#endif
