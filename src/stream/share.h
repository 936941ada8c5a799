/*
 * share: the part of the arrays that is one thread's own, first touch to
 * last check.  Contiguous and as even as can be: OpenMP's static schedule.
 */
#ifndef MEMBW_SHARE_H
#define MEMBW_SHARE_H

#include "config.h"

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

static __inline__ struct share share_of(size_t size, size_t me, size_t threads)
{
	const size_t even = size / threads, rest = size % threads;
	struct share share;

	share.first = me * even + (me < rest ? me : rest);
	share.size = even + (me < rest);
	return share;
}

/* To be called inside a parallel region, by the thread itself. */
static __inline__ struct share share_of_thread(size_t size)
{
	return share_of(size, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
}

#endif
