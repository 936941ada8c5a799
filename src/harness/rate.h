/*
 * rate: what the repetitions of a rate (GB/s, GFlop/s) say together.
 *
 * A repetition in which a thread lost at most 5 % of its time counts; the value is the best that
 * counts, and its interval reaches up by as much as that repetition lost.  Where none counts, no
 * interval is known, or other processes used the node (evidence/interference.h), the value is the
 * best of all repetitions: a lower bound, since other processes can only slow one down.
 *
 * The interval is how far the same measurement, started again now, would read: parts of a run are
 * shorter runs, begun one after the other, and the interval is what their best repetitions
 * scatter, times Student's t and 1.3.  docs/evidence.md has the data for these numbers.
 */
#pragma once

#include "config.h"

struct rate {
	double value, low, high; /* low and high 0: no interval */
	int counted;             /* repetitions that count */
	int best_of;             /* repetitions that the value is the best of */
	int best;                /* which of them it is */
	int is_bound;            /* a lower one */
	int is_upper; /* a cache may hold the arrays (not-proven): it can only be too high */
};

/* Whether a repetition counts in which a thread lost that share of its time: 5 % where the best of
 * many is the figure, 2 % where it is the figure itself. */
LOCAL int rate_counts(double lost_share);
LOCAL int rate_counts_alone(double lost_share);

/* Of the rates of COUNT repetitions, and the share of its time that a thread lost in each (NULL:
 * nothing is known of that).  All 0 where there are none. */
LOCAL void rate_of(struct rate *rate, const double *rates, const double *lost_shares, int count);

/* Whether it may be too high: a cache may hold the arrays, or a bound has, by what --allow set
 * aside, an error on that side (verdict.h). */
LOCAL int rate_may_be_high(const struct rate *rate);

/* What a rate is that is a bound: "a lower bound"; where it may be too high, too, "a bound on
 * neither side". */
LOCAL const char *rate_bound(const struct rate *rate);

/* "46.1 ±2.1", of a bound "≥ 37.2" or "≤ 46.1", of both "~ 37.2": values divided by SCALE.  Good
 * for four calls. */
LOCAL const char *rate_text(const struct rate *rate, double scale);
