/*
 * validate: is every element of C what it must be, to the bit?
 *
 * Each is a whole number, else it is wrong.  Then v C is compared with v C' + t (v A) B for random
 * vectors v of odd numbers, modulo 2^64: column by column, O(n^2) in place of O(n^3).  One wrong
 * element of a column changes v C whatever v is, because an odd number divides no power of two;
 * several in one column hide from one vector with probability 2^-10 at most, and from all three
 * with 2^-30.  Source: R. Freivalds, Probabilistic machines can use less running time, IFIP 1977.
 */
#pragma once

#include "matrices.h"

struct wrong {
	size_t columns; /* with a wrong element; 0: all is right */
	size_t of;      /* so many */
	size_t row, column;
	double expected, actual; /* of the first wrong one, column by column */
};

void validate(struct wrong *wrong, const struct matrices *matrices);

/* Finds not-validated. */
void validate_judge(const struct wrong *wrong, const char *name);
