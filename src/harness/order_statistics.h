/*
 * order_statistics: what samples say whose distribution nobody knows.
 *
 * The interval of the median is exact for any continuous distribution: the median lies between
 * the samples of rank r and n + 1 - r with probability 1 - 2 P(Binomial(n, 1/2) < r).  Source:
 * H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1.
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
double median(double *values, int count);

/* Of at least one value; sorts them. */
void order_statistics(struct order_statistics *s, double *values, int count);

/* Writes members of the record, "median_ns", "low_ns" ...: each times SCALE, in UNIT. */
void order_statistics_write(const struct order_statistics *s, double scale, const char *unit);

/* Half of the interval's width in parts of the median; 1 where there is none. */
double order_statistics_spread(const struct order_statistics *s);

/* Two regimes: a part of at least a fifth of the samples on either side of a gap. */
struct regimes {
	int count;          /* 1 or 2 */
	double median[2];   /* the lower first */
	double share_upper; /* of the samples */
};

/* Of sorted values; GAP is what the upper part's median must be of the lower one's, above 1. */
void regimes_find(struct regimes *regimes, const double *sorted, int count, double gap);
