/*
 * expect: what the arrays must hold, to the bit.
 *
 * The values are chosen so that no flipped bit that a kernel reads is lost.
 * With s = -3/2 an iteration gives b = -3/2 a, c = -1/2 a and a' = -3/4 a.  The
 * start value is an odd number of 50 bits (21 for float) times a power of two,
 * below 4/3; two iterations, a factor of 9/16, fill its mantissa to the last
 * bit.  So every operation on right values is exact: contracted or not, correct
 * arithmetic has one answer, to the bit.  And a value that is wrong by a unit in
 * the last place stays wrong: both sums cancel, so that results are at least as
 * fine as what they are made of; what rounding takes is less than the
 * difference, or it is a tie, which goes to an even number, and the right one is
 * odd there.  (tests/probes/flip_arithmetic.c tries every bit at every point.)  A further kernel
 * whose result is larger than what it reads rounds the lowest bit of it away.
 *
 * A third iteration would round.  Before each one that has two behind it an
 * untimed pass brings a back to the start value, by exclusive or with what
 * should be there: right values become the start value, wrong ones stay wrong
 * by the same bits.  Nothing can overflow or become denormal.
 *
 * None of this is written down twice: the descriptors of kernels.c are replayed on
 * one element of each array, in wider arithmetic, which shows how many iterations are
 * exact, which arrays an iteration begins with, and what they all hold in the end.
 */
#pragma once

#include "kernels.h"

/* What the arrays hold before the first iteration. */
void expect_start(element start[ARRAYS]);

/* Iterations from one reset to the next: as many as are exact.  Ends the program where
 * the kernels round in the first one: then no element has one right value. */
int expect_reset_every(void);

/* Whether an iteration reads the array before it writes it. */
int expect_is_carried(enum array array);

/* What the arrays hold after so many iterations, with the resets between. */
void expect_after(element expected[ARRAYS], int iterations);
