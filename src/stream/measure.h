/*
 * measure: runs the kernels in turn, NTIMES times, and keeps every time.
 */
#ifndef MEMBW_MEASURE_H
#define MEMBW_MEASURE_H

#include "kernels.h"
#include "peak.h"

/* A spread is the average of the times above the best, in parts of the best. */
enum { TICKS_AT_LEAST = 20, SPREAD_PERCENT = 20 };

struct timing {
	double *times;               /* seconds, ntimes of them */
	double best, average, worst; /* of all but the first */
	double best_mbs;             /* 10^6 bytes per second */
};

struct measurement {
	int ntimes;
	double tick; /* seconds, the clock's granularity */
	struct timing kernel[KERNELS];
};

/* Runs and times. */
void measure(struct measurement *measurement, const struct arrays *arrays, int ntimes);

/* Finds too-short, unstable and, where a peak is known, too-good. */
void measure_judge(const struct measurement *measurement, const struct peak *peak);

#endif
