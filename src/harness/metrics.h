/*
 * metrics: the figures of a run: name, value, unit, and which way is better.
 *
 * Whoever compares runs reads these and knows no kernel by name.
 */
#pragma once

#include "rate.h"

enum better { HIGHER, LOWER };

/* A name as by printf(); lives as long as the program. */
LOCAL const char *metric_name(const char *format, ...) PRINTF_LIKE(1, 2);

/* Sets a metric, a second time in place of the first.  The name lives as long as the program. */
LOCAL void metric(const char *name, double value, const char *unit, enum better better);

/* How far the same measurement, started again now, would read; the program says by which method
 * (docs/evidence.md). */
LOCAL void metric_interval(const char *name, double low, double high);

/* A cache may have made it too good: a rate is an upper bound, a latency a lower one, and neither
 * has an interval; unknown, where it was disturbed, too. */
LOCAL void metric_too_good(const char *name);

/* Other processes disturbed it, so that it has no interval: alone it would have been better; of a
 * difference or a ratio that is not known. */
LOCAL void metric_disturbed(const char *name);
LOCAL void metric_unknown(const char *name);

/* A metric of what the repetitions of a rate say, divided by SCALE: its value with an interval, or
 * as a lower bound. */
LOCAL void metric_rate(const char *name, const struct rate *rate, double scale, const char *unit);

/* What a point of a curve or of a map is at, as the record names it. */
enum axis {
	AT_BYTES, /* of a message, of private data, or of a working set */
	AT_THREADS,
	AT_CPU,
	AT_OTHER_CPU,
	AT_CPU_DOMAIN, /* NUMA domains: of the CPUs, of the memory */
	AT_MEMORY_DOMAIN,
	AT_READ_SHARE, /* of the bytes that a program counts, 0 to 1 */
	AT_M,          /* of a product of m x k and k x n */
	AT_N,
	AT_K,
	AXES
};

/* The metric is a point of SERIES, there: each of what it is at by a call. */
LOCAL void metric_at(const char *name, const char *series, enum axis axis, double value);

/* The same of a level of the memory hierarchy: "L1", "memory"; the text lives as long as the
 * program. */
LOCAL void metric_at_level(const char *name, const char *series, const char *level);

/* Every measurement that its value was made from, in its unit; copied. */
LOCAL void metric_samples(const char *name, const double *samples, int count);

/* Finds too-good: a metric of that unit above the peak (0: not known); incomplete: there is none.
 */
LOCAL void metrics_judge(double peak, const char *unit);

/* The finding itself, of a figure that is no metric of its own. */
LOCAL void judge_peak(const char *name, double value, const char *unit, double peak);

/* The metric that stands for the run: the last whose name matches the pattern, else the first;
 * NULL where there is none. */
LOCAL const char *metrics_headline(const char *pattern);

/* "latency: 93.2 ns", one per line. */
LOCAL void metrics_print(FILE *out);

/* Writes "metrics" of the record. */
LOCAL void metrics_write(void);
