/*
 * share: the part of the arrays that is one thread's own, first touch to
 * last check.  Contiguous, and as even as can be with borders between cache
 * lines: the arrays begin on a line, so no two threads write to the same one.
 */
#ifndef MEMBW_SHARE_H
#define MEMBW_SHARE_H

#include "../config.h"

#ifdef _OPENMP
#include <omp.h>
#else
/* Without OpenMP the pragmas are meant to be passed over in silence. */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif

struct share {
	size_t first;
	size_t size;
};

enum { SHARE_BYTES = 64, SHARE_UNIT = SHARE_BYTES / sizeof(element) };

/* Part `me` of `threads` of a range, in whole lines but for the last. */
static __inline__ struct share share_within(struct share range, size_t me, size_t threads)
{
	const size_t lines = (range.size + SHARE_UNIT - 1) / SHARE_UNIT;
	const size_t even = lines / threads, rest = lines % threads;
	const size_t from = (me * even + (me < rest ? me : rest)) * SHARE_UNIT;
	const size_t to = from + (even + (me < rest)) * SHARE_UNIT;
	struct share share;

	share.first = range.first + (from < range.size ? from : range.size);
	share.size = (to < range.size ? to : range.size) - (share.first - range.first);
	return share;
}

static __inline__ struct share share_of(size_t size, size_t me, size_t threads)
{
	struct share all;

	all.first = 0;
	all.size = size;
	return share_within(all, me, threads);
}

/* To be called inside a parallel region, by the thread itself. */
static __inline__ struct share share_of_thread(size_t size)
{
	return share_of(size, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
}

#endif
