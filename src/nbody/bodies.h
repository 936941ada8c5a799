/*
 * bodies: places and masses, by a fixed sequence of numbers; what is true of the forces between
 * them whatever the run.
 */
#pragma once

#include "../harness/config.h"

enum precision { SINGLE, DOUBLE, PRECISIONS };
extern const char *const precision_names[PRECISIONS];

enum { GROUP = 16 };

/* Arrays of COUNT, a multiple of GROUP, of float or double. */
struct bodies {
	enum precision precision;
	long count;
	void *x[3], *m, *a[3]; /* place and acceleration by axis; mass */
};

/* In a cube of side 1, of mass 1 together; touched by the threads in equal shares. */
void bodies_start(struct bodies *bodies, enum precision precision, long count);
void bodies_end(struct bodies *bodies);

/* Of an array: bytes of an element; one of them, and to add to it. */
size_t bodies_element(const struct bodies *bodies);
double bodies_number(const struct bodies *bodies, const void *array, long i);
void bodies_add(const struct bodies *bodies, void *array, long i, double more);

/* |sum of m a| / sum of |m a|: 0, but for what is rounded. */
double bodies_momentum(const struct bodies *bodies);

/* The largest difference of an acceleration, in parts of the largest acceleration; COMPARED are
 * three arrays of the same precision. */
double bodies_difference(const struct bodies *bodies, void *const compared[3]);
