/*
 * arrays: the three arrays a, b and c, and the arithmetic they hold.
 *
 * They lie one after the other, as STREAM's static arrays do: array k begins
 * k * (size + offset) elements after the first, rounded up to 64 bytes.
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
 * odd there.  (tests/flip_arithmetic.c tries every bit at every point.)
 *
 * A third iteration would round.  Before each one that has two behind it an
 * untimed pass brings a back to the start value, by exclusive or with what
 * should be there: right values become the start value, wrong ones stay wrong
 * by the same bits.  Nothing can overflow or become denormal.
 */
#ifndef MEMBW_ARRAYS_H
#define MEMBW_ARRAYS_H

#include "../../harness/config.h"

enum { ARRAYS = 3, RESET_EVERY = 2 };

struct arrays {
	element *of[ARRAYS]; /* a, b, c */
	size_t size;         /* elements of one array */
	size_t offset;
	element scalar;
};

enum pages { PAGES_DEFAULT, PAGES_THP, PAGES_2M, PAGES_1G, PAGES_KINDS };

/* Maps memory without touching it; dies where such pages cannot be had. */
void arrays_create(struct arrays *arrays, size_t size, size_t offset, enum pages pages);

/* Bytes that three arrays take. */
size_t arrays_bytes(size_t size, size_t offset);

/* What an array's address is a multiple of, up to the 2 MiB that are asked for. */
size_t arrays_alignment(const struct arrays *arrays, int array);

/* What the arrays must hold after so many iterations. */
void arrays_expect(element expected[ARRAYS], int iterations);

element arrays_start_value(void);

#endif
