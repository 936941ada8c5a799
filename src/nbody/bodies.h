/*
 * bodies: places and masses, by a fixed sequence of numbers; what is true of the forces between
 * them whatever the run.
 */
#pragma once

#include "forces.h"

enum precision { SINGLE, DOUBLE, PRECISIONS };
extern const char *const precision_names[PRECISIONS];

struct bodies {
	enum precision precision;
	long count; /* a multiple of GROUP */
	struct bodies_float single;
	struct bodies_double twice;
};

/* In a cube of side 1, of mass 1 together; touched by the threads in equal shares. */
void bodies_start(struct bodies *bodies, enum precision precision, long count);
void bodies_end(struct bodies *bodies);

long bodies_groups(const struct bodies *bodies);

/* Those of the groups from FIRST to below LAST. */
void bodies_forces(const struct bodies *bodies, long first, long last);

/* Places and accelerations as they are kept: AXIS 0 to 2, COUNT elements of so many bytes; one of
 * them, and to add to it. */
void *bodies_place(const struct bodies *bodies, int axis);
void *bodies_acceleration(const struct bodies *bodies, int axis);
size_t bodies_element(const struct bodies *bodies);
double bodies_number(const struct bodies *bodies, const void *array, long i);
void bodies_add(const struct bodies *bodies, void *array, long i, double more);

/* |sum of m a| / sum of |m a|: 0, but for what is rounded. */
double bodies_momentum(const struct bodies *bodies);

/* The largest difference of an acceleration, in parts of the largest acceleration; COMPARED are
 * three arrays of the same precision. */
double bodies_difference(const struct bodies *bodies, void *const compared[3]);
