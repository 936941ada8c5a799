/*
 * validate: every element of every array against the one right value, bit by
 * bit (expect.h says why there is exactly one).
 */
#pragma once

#include "arrays.h"

enum { LISTED_MAX = 10 };

struct wrong {
	int array;
	size_t index;
	element expected, found;
};

struct validation {
	element expected[ARRAYS];
	size_t wrong; /* elements */
	int listed;
	struct wrong first[LISTED_MAX]; /* by array and index */
};

/* Compares; finds not-validated. */
void validate_arrays(struct validation *validation, const struct arrays *arrays, int iterations);

/* Compares with one value in all of them; how many elements differ. */
size_t validate_filled(const struct arrays *arrays, element value);
