/*
 * search: finds the fastest variant of each kernel on these threads, this memory.
 *
 * All that is measured is a ratio: a candidate's time against that of an anchor
 * variant run around it, so that a machine that grows slower for a while slows
 * both.  The order is random in every round, and the median over
 * the rounds counts.  Successive halving: each level has the same time, the
 * better half goes on.
 *
 * A probe works one slice of every thread's share, the slices in turn, so
 * that none is still in a cache.  Ordinary stores leave lines to be written
 * back in the next run's time; hence stores of one kind are compared with each
 * other alone.  A confirming run moves twice what the last-level caches hold, after
 * one that is not timed, so that it pays its own debts: there the two kinds meet.
 *
 *   1. all variants, halved to four, for each kind of store      (probes)
 *   2. the best of the one kind against the best of the other    (confirming runs)
 *   3. distances around the better kind's, halved to one         (probes)
 *
 * A kernel that has no variant is passed over: its Standard loop runs.
 */
#pragma once

#include "candidates.h"
#include "kernel_choice.h"

/* Searches; the arrays hold anything afterwards.  The progress goes to stderr, and of each kernel
 * the winner, its ratio to the anchor and the rounds that this is the median of. */
void tune(struct kernel_choice *choice, const struct arrays *arrays, size_t llc_bytes,
	  double budget_s);
