/*
 * constructs: what OpenMP offers, each with the same work without it.
 *
 * The published method (J. M. Bull, Measuring Synchronisation and Scheduling Overheads in OpenMP,
 * EWOMP 1999; J. M. Bull and D. O'Neill, A Microbenchmark Suite for OpenMP 2.0, EWOMP 2001): the
 * overhead of a construct is the time of a delay with it, less that of the delay alone.
 *
 * A repetition of
 *	critical, lock, atomic, ordered, single      is one delay, by one thread at a time
 *	for_dynamic, for_dynamic_8, for_guided       is a loop of 64 delays for each thread
 *	all the rest                                 is one delay for each thread
 * and of atomic an addition in place of the delay.  private, firstprivate, copyin: a parallel
 * region with such an array; copyprivate: a single that hands one to all.  barrier_late: the last
 * thread comes 20 delays after the other threads.
 */
#pragma once

#include "../harness/config.h"

#include "delay.h"

struct construct {
	const char *name;
	size_t bytes;        /* of the array; 0: has none */
	word (*run)(long n); /* N repetitions, a multiple of the threads; returns how many delays
				all threads together made */
	word (*reference)(long n);
};

/* In the order of the tables. */
extern const struct construct constructs[];
extern const int constructs_count;

/* The first run of each on a team fills the arrays that are copied. */
void constructs_first_run(int is_first);
