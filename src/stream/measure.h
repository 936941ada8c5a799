/*
 * measure: runs the kernels in turn and keeps every time, until the figures have settled or
 * exactly so often.
 *
 * A block is at least three repetitions and a quarter of a second.  The figures have settled when
 * the three best blocks of every kernel agree within 2 %, after a second at least; a run that
 * does not settle ends after --max-seconds, but has the repetitions of which an interval can be
 * made, however long each takes.  With -t or the macro NTIMES nothing is waited for.
 *
 * Which repetitions count, and what they say together, is the rule of all rates (rate.h).  The
 * time that a repetition lost is that of the thread that was longest ready and did not run
 * (lost_time.h), and every tick that a hypervisor took of our CPUs meanwhile; under 50 us, in
 * which a sleeping thread is woken, it is 0.  What a thread that lagged in the kernel before may
 * have left in the caches for this one is taken off its bytes: the time that it lost times the
 * rate, at most the caches.
 */
#pragma once

#include "../harness/rate.h"
#include "kernels/kernels.h"

enum { TICKS_AT_LEAST = 20 };

/* The first, which is not counted, and a second; and two for each of the three parts of which an
 * interval is made. */
enum { REPETITIONS_LEAST = 2, REPETITIONS_OF_INTERVAL = 7 };

struct timing {
	double *times;               /* seconds, one of each repetition */
	double *lost;                /* seconds that a thread lost in it; NULL: not known */
	const struct timing *before; /* of what ran just before it; NULL: not known */
	int before_back;             /* how many repetitions earlier that was */
	struct rate rate;            /* bytes per second, the first repetition left out */
	/* seconds of those that count, of all where the rate is a bound, with what is taken off */
	double best, average, worst;
	double best_mbs; /* 10^6 bytes per second */
};

enum ended { ENDED_COUNT, ENDED_SETTLED, ENDED_TIME, ENDED_SIGNAL, ENDED_BY_RANK };

struct measurement {
	int ntimes;         /* exactly so many, 0: until settled */
	double max_seconds; /* 0: no limit */
	int least;          /* repetitions, before that limit counts */
	size_t caches;      /* bytes that the last-level caches hold */
	int capacity;       /* times that there is room for */
	int complete;       /* iterations measured on this rank, all kernels */
	int passed;         /* iterations that the arrays went through */
	int blocks;
	enum ended ended;
	double tick; /* seconds, the clock's granularity */
	struct timing kernel[KERNELS];
};

/* Room for so many times, those that are there kept; dies where there is no memory. */
void measure_reserve(struct measurement *measurement, int capacity);

/* Runs and times.  In an MPI job every kernel begins with a barrier; a rank
 * that gives up ends the iteration untimed, so that the arrays can be checked. */
void measure(struct measurement *measurement, const struct arrays *arrays);

/* The rate, best, average and worst time of the complete repetitions, each of so many bytes; all 0
 * where fewer than two are complete. */
void measure_timing(struct timing *timing, int complete, double bytes, size_t caches);

/* The same of each kernel, of so many ranks with such arrays; after the run's interference is
 * known. */
void measure_summarize(struct measurement *measurement, size_t size, int ranks);

/* Repetitions that do not count for one kernel or more. */
int measure_disturbed(const struct measurement *measurement);

/* "count", "settled", "time limit", "signal 15" ... */
const char *measure_ended(const struct measurement *measurement);

/* Finds too-good, also of a node whose ranks together are too good. */
void measure_judge_peak(const struct measurement *measurement);

/* Finds too-short and, where a peak is known, too-good; warns of disturbed and unstable. */
void measure_judge(const struct measurement *measurement);
