/*
 * arrays: the three arrays a, b and c, and the arithmetic they hold.
 *
 * They lie one after the other, as STREAM's static arrays do: array k begins
 * k * (size + offset) elements after the first, rounded up to 64 bytes.
 *
 * The values are chosen so that every operation of every kernel is exact in
 * binary floating point: contracted, reordered or neither, correct arithmetic
 * has one answer, to the bit.  With s = 2 an iteration gives b = 2a, c = 3a
 * and a' = 8a.  The start value is a multiple of two units in the last place
 * and below 4/3: then 3a is exact, and a flip of any bit of a between two
 * iterations survives all roundings.  What rounding can swallow is a flip in
 * the two lowest bits of a after Copy, or of b or c before a Triad that
 * is not the last one: a is right all the same, and b and c are overwritten.
 * Every 16 iterations an untimed pass divides a by 8^16, exactly, so nothing
 * overflows.
 */
#ifndef MEMBW_ARRAYS_H
#define MEMBW_ARRAYS_H

#include "config.h"

enum { ARRAYS = 3, RESCALE_EVERY = 16 };

struct arrays {
	element *of[ARRAYS]; /* a, b, c */
	size_t size;         /* elements of one array */
	size_t offset;
	element scalar;
};

enum pages { PAGES_DEFAULT, PAGES_THP, PAGES_2M, PAGES_1G, PAGES_KINDS };

/* Maps memory without touching it; asks again where such pages cannot be had. */
void arrays_create(struct arrays *arrays, size_t size, size_t offset, enum pages pages);

/* Bytes that three arrays take. */
size_t arrays_bytes(size_t size, size_t offset);

/* What the arrays must hold after so many iterations. */
void arrays_expect(element expected[ARRAYS], int iterations);

element arrays_start_value(void);

#endif
