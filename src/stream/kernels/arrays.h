/*
 * arrays: a, b and c: where they lie, and which part of them is one thread's own, first touch to
 * last check.
 *
 * They lie one after the other, as STREAM's static arrays do: array k begins
 * k * (size + offset) elements after the first, rounded up to a cache line.  A thread's part is
 * contiguous, and as even as can be with borders between cache lines: no two threads write to the
 * same one.
 */
#pragma once

#include "../../harness/memory/map.h"
#include "../../harness/memory/placement.h"
#include "../../harness/openmp.h"
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

/* Elements of a cache line of this machine; arrays_create sets it. */
extern size_t share_unit;

struct share {
	size_t first;
	size_t size;
};

/* Part `me` of `threads` of so many elements, in whole lines but for the last. */
static __inline__ struct share share_of(size_t size, size_t me, size_t threads)
{
	const size_t lines = (size + share_unit - 1) / share_unit;
	const size_t even = lines / threads, rest = lines % threads;
	const size_t from = (me * even + (me < rest ? me : rest)) * share_unit;
	const size_t to = from + (even + (me < rest)) * share_unit;
	struct share share;

	share.first = from < size ? from : size;
	share.size = (to < size ? to : size) - share.first;
	return share;
}

/* To be called inside a parallel region, by the thread itself. */
static __inline__ struct share share_of_thread(size_t size)
{
	return share_of(size, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
}
