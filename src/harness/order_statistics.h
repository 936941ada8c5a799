/*
 * order_statistics: what samples tell without a known distribution.
 *
 * The interval of the median is exact for any continuous distribution: the median lies between
 * the samples of rank r and n + 1 - r with probability 1 - 2 P(Binomial(n, 1/2) < r).  Source:
 * H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1.
 *
 * That is of independent samples.  Round trips that follow each other are not: of 64 KiB by MPI
 * one block in a row predicts half of the next, and such intervals of 10 to 80 ms contained the
 * median of 0.4 s in 30 to 40 % of cases.  What is measured in turn gets ranks further out, by how
 * much the share above the median differs between six parts in a row (batch means; Student's t of
 * five degrees): 70 % there, 90 to 100 % of a line between two cores.  What changes more slowly
 * than the measurement takes no interval of it can know.  Source: A. Law, Simulation Modeling and
 * Analysis, 5th edition, 9.5.3.
 */
#pragma once

#include "config.h"

/* Fewer samples than this have no interval of 95 %: it is then minimum to maximum. */
enum { INTERVAL_SAMPLES = 6 };

struct order_statistics {
	int count;
	double min, p10, median, p90, max;
	double low, high; /* 95 % interval of the median */
};

/* Of at least one value; sorts them. */
LOCAL double median(double *values, int count);

/* Of at least one value; sorts them. */
LOCAL void order_statistics(struct order_statistics *s, double *values, int count);

/* The same of values in the order in which they were measured, with an interval for that; sorts
 * a copy in ROOM. */
LOCAL void order_statistics_in_turn(struct order_statistics *s, const double *values, double *room,
				    int count);

/* Writes members of the record, "median_ns", "low_ns" ...: each times SCALE, in UNIT. */
LOCAL void order_statistics_write(const struct order_statistics *s, double scale,
				  const char *unit);

/* How far the interval reaches from the median; in parts of it, 1 where there is none. */
LOCAL double order_statistics_reach(const struct order_statistics *s);
LOCAL double order_statistics_spread(const struct order_statistics *s);

/* The standard deviation of a sample of COUNT values, by COUNT - 1; 0 of fewer than two. */
LOCAL double deviation(const double *values, int count);

/* Student's t, two-sided 95 %, of so many degrees of freedom, at least 1 and at most
 * STUDENT_FREEDOM. */
enum { STUDENT_FREEDOM = 11 };
LOCAL double student(int freedom);
