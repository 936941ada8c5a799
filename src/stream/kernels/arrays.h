/*
 * arrays: a, b and c: where they lie.
 *
 * They lie one after the other, as STREAM's static arrays do: array k begins
 * k * (size + offset) elements after the first, rounded up to a cache line.
 */
#pragma once

#include "../../harness/memory/map.h"
#include "../../harness/memory/placement.h"
#include "../macros.h"

/* STREAM's scalar s; why it is this one: expect.h. */
#define SCALAR ((element) - 1.5)

/* A kernel may have more than STREAM's three: ARRAY_d behind ARRAY_c. */
enum array { ARRAY_a, ARRAY_b, ARRAY_c, ARRAYS };

struct arrays {
	element *of[ARRAYS]; /* a, b, c, ... */
	size_t size;         /* elements of one array */
	size_t offset;
	element scalar;
};

/* Maps memory without touching it; ends the program where such pages are not available. */
void arrays_create(struct arrays *arrays, size_t size, size_t offset, enum pages pages);

/* Bytes that all arrays take. */
size_t arrays_bytes(size_t size, size_t offset);

/* Samples where the pages of every thread's share lie; finds wrong-placement. */
void arrays_place(struct placement *placement, const struct arrays *arrays, const char *when);

/* What an array's address is a multiple of, up to the 2 MiB that are requested. */
size_t arrays_alignment(const struct arrays *arrays, int array);
