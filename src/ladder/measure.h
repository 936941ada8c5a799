/*
 * measure: the points of the ladder: latency and bandwidth of a working set, round by round.
 *
 * A visit times groups of whole passes (laps of a chase), of at least 0.2 ms, until two in a row
 * agree within 3 %: their mean is the point.  Of one thread's rates a group takes at least 10 ms,
 * but with --quick: in less, a clock that changes by the millisecond read L1 by 6 % too low.  So
 * the first passes, warm or cold by what came before, are discarded by what they read, not by a
 * count.  Where no two of eight agree the point is their median, and counted as unsettled; those
 * that take long are given half a second.
 *
 * Time in which the one thread was ready and did not run (lost_time.h) is subtracted, and
 * a short group that lost more than half is measured again; of all
 * threads together such a group is measured again, for a tenth of a second at most.
 */
#pragma once

#include "rungs.h"

struct measuring {
	struct ladder *ladder;
	int is_quick;
	int visits, unsettled;
	int lost;         /* visits without an undisturbed group */
	int has[2];       /* whether the chase lies in pages of 2 MiB, of 4 KiB */
	double clock_ghz; /* median over rounds, 0: not known */
};

/* Maps the memory of each thread and touches it. */
void measuring_memory(struct measuring *measuring);

/* One more round: each size once, in random order.  0: the time was over before, and the round
 * counts only if it is the first. */
int measuring_round(struct measuring *measuring, double until);

/* Samples where the memory lies; finds wrong-placement. */
struct placement;
void measuring_place(struct placement *placement, const char *when);
