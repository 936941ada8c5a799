/*
 * in_memory: how it is known that the arrays lie in memory (harness/memory/residency.h).
 *
 * Before the arrays are made, a Triad over smaller and larger ones is timed, in memory of each
 * thread's own, for two seconds at most: half and double the size, and up to eight times the size
 * or whatever memory and time allow.  All sizes are in turn, and the best of the rounds counts,
 * since other processes only slow it down.  A size is
 *	contradicted  where at least two larger ones are slower by a quarter
 *	proven        where half, double and the largest size agree within a tenth, and the largest
 *	              is eight times the last-level caches, and 512 MiB, since a cache may be
 *	              declared too small; arrays that the declared caches could hold never are
 *	declared      else, where an array has four times the last-level caches
 *
 * An automatic size that is contradicted becomes the smallest larger one that is proven, if need
 * be after two seconds more from the largest one on; one that takes longer to touch than there is
 * time for, as 4 times 260 MiB on two cores, the smallest proven one.  In one of several
 * processes, and with --allow array-too-small, nothing is timed; nor where the given size is less
 * than a proof takes, since it is INVALID in any case.
 */
#pragma once

#include "../harness/memory/residency.h"
#include "array_size.h"

struct in_memory {
	enum residency residency;
	size_t largest;          /* elements of an array of the largest size timed, 0: none */
	double gbs, largest_gbs; /* best Triad at the arrays' size, and at the largest */
	double seconds;          /* that it took */
};

/* May change an automatic size; NOTE then says so. */
void in_memory_find(struct in_memory *in_memory, struct options *options, size_t llc_bytes,
		    enum llc_from from, char note[256]);

/* Finds array-too-small: contradicted and unknown, and less than STREAM's million elements. */
void in_memory_judge(const struct in_memory *in_memory, const struct options *options,
		     size_t llc_bytes, enum llc_from from);

/* A line of the table's head; "residency" of the record. */
void in_memory_print(const struct in_memory *in_memory);
void in_memory_write(const struct in_memory *in_memory);
