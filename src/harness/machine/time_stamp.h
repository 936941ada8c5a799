/*
 * time_stamp: the cycle counter of x86, where it counts at one rate on all CPUs.
 *
 * Linux says so by the flags constant_tsc and nonstop_tsc of /proc/cpuinfo.
 */
#pragma once

#include "../config.h"

LOCAL int time_stamp_invariant(void);

/* Not before what stands before it, and what stands after it not before. */
static __inline__ unsigned long long time_stamp(void)
{
#if defined(__x86_64__) && !defined(__MIC__)
	unsigned low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long long)high << 32 | low;
#else
	return 0;
#endif
}
