/*
 * thread_range: the part of the arrays that is one thread's own, first touch to
 * last check.  Contiguous, and as even as can be with borders between cache
 * lines: the arrays begin on a line, so no two threads write to the same one.
 */
#pragma once

#include "../../harness/openmp.h"
#include "../macros.h"

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
