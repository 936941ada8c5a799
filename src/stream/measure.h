/*
 * measure: runs the kernels in turn and keeps every time, until the figures have settled or
 * exactly so often.
 *
 * A block is at least three repetitions and a quarter of a second.  The figures have settled when
 * the three best blocks of every kernel agree within 2 %, after a second at least; a run that
 * does not settle ends after --max-seconds, but has the repetitions of which an interval can be
 * made, however long each takes: with fewer it would have been for nothing.  With -t or the macro
 * NTIMES nothing is waited for.
 *
 * A repetition is disturbed where a thread of ours was ready but did not run for more than 1 % of
 * it (lost_time.h); less than 50 us, in which a sleeping thread is woken, do not count.  So is
 * every repetition in which a hypervisor took a tick of our CPUs (of one whose kernels take 20 ms
 * and more the kernel in which it was seen), and the kernel after a disturbed
 * one: what a thread that lags leaves in the caches makes that too fast (57 GB/s among 41 were
 * seen).  Best, average and worst are of the others but the first.
 *
 * The interval is how far the same measurement, started again now, would read.
 * docs/repeatability.md has the data by which these numbers were chosen.
 */
#pragma once

#include "../harness/evidence/core_pair.h"
#include "search/kernel_choice.h"

/* A spread is the average of the times above the best, in parts of the best. */
enum { TICKS_AT_LEAST = 20, SPREAD_PERCENT = 20 };

/* The first, which is not counted, and a second; and two for each of the three parts of which an
 * interval is made. */
enum { REPETITIONS_LEAST = 2, REPETITIONS_OF_INTERVAL = 7 };

struct timing {
	double *times;               /* seconds, one of each repetition */
	double *lost;                /* seconds that a thread lost in it; NULL: not known */
	const struct timing *before; /* of what ran just before it; NULL: not known */
	int before_back;             /* how many repetitions earlier that was */
	int counted;                 /* repetitions, not disturbed, the first left out */
	double best, average, worst; /* of the counted ones */
	double best_mbs;             /* 10^6 bytes per second */
	double low_mbs, high_mbs;    /* both 0: no interval can be had */
};

enum ended { ENDED_COUNT, ENDED_SETTLED, ENDED_TIME, ENDED_SIGNAL, ENDED_BY_OTHERS };

struct measurement {
	int ntimes;         /* exactly so many, 0: until settled */
	double max_seconds; /* 0: no limit */
	int least;          /* repetitions, before that limit counts */
	int capacity;       /* times that there is room for */
	int complete;       /* iterations measured on this rank, all kernels */
	int passed;         /* iterations that the arrays went through */
	int blocks;
	enum ended ended;
	double tick; /* seconds, the clock's granularity */
	struct timing kernel[KERNELS];
	struct core_pair_between nearest; /* about once a second */
};

/* Room for so many times, those that are there kept; dies where there is no memory. */
void measure_reserve(struct measurement *measurement, int capacity);

/* Runs and times.  In an MPI job every kernel begins with a barrier; a rank
 * that gives up ends the iteration untimed, so that the arrays can be checked. */
void measure(struct measurement *measurement, const struct kernel_choice *choice,
	     const struct arrays *arrays);

/* Best, average and worst of the complete runs that count, each of so many
 * bytes; all 0 where fewer than two are complete. */
void measure_timing(struct timing *timing, int complete, double bytes);

/* The same of each kernel, of so many ranks with such arrays. */
void measure_summarize(struct measurement *measurement, size_t size, int ranks);

/* Repetitions of any kernel that were disturbed. */
int measure_disturbed(const struct measurement *measurement);

/* "count", "settled", "time limit", "signal 15" ... */
const char *measure_ended(const struct measurement *measurement);

/* Finds too-good, also of a node whose ranks together are too good. */
void measure_judge_peak(const struct measurement *measurement);

/* Finds too-short, disturbed, unstable and, where a peak is known, too-good. */
void measure_judge(const struct measurement *measurement);
