/*
 * chase: dependent loads in an order that no prefetcher foresees: the latency of memory.
 *
 * The memory is one cycle of its lines (machine/line_size.h), in random order: a line holds the
 * address of the next, so each load waits for the one before it.  The memory lies in pages of 2
 * MiB, which the TLBs reach, or of 4 KiB: what these take longer is the page walk.
 *
 *	struct chase chase;
 *	char *memory = chase_memory(bytes, CHASE_2M);      once, by the thread that walks
 *	chase_build(&chase, memory, bytes, seed);
 *	chase_walk(&chase, chase.lines);                   a lap to warm up; not timed
 *	began = clock_now();
 *	chase_walk(&chase, laps * chase.lines);            whole laps: see below
 *	ns = 1e9 * (clock_now() - began) / (laps * chase.lines);
 *	if (!chase_is_right(&chase))
 *		verdict_invalid(NOT_VALIDATED, ...);
 *
 * Time whole laps only: a part of a cycle is warm or cold, by what came before.  The first laps
 * find in the caches what the build left there, so discard laps until their times agree.
 *
 * The order is a formula (chase_line), so the line at which any number of loads ends is known:
 * a load that went elsewhere ends elsewhere.
 */
#pragma once

#include "../config.h"

enum chase_pages { CHASE_2M, CHASE_4K };

/* Bytes of the chain that the latency of memory is said of, where no cache may hold it: the same
 * in each program. */
enum { CHASE_USUAL = 256 * MIB };

enum { CHASE_STEP = 8 }; /* loads of a walk, and lines of a cycle, are a multiple of this */

struct chase {
	char *memory;
	size_t line;     /* bytes of each */
	size_t lines;    /* of the cycle */
	size_t seed;     /* of the order */
	const void **at; /* the line that the next load reads */
	size_t loads;    /* walked since chase_build() */
};

/* Maps memory in pages of that kind, where the kernel has them, and touches it; munmap() gives it
 * back. */
LOCAL char *chase_memory(size_t bytes, enum chase_pages pages);

/* Whether at least nine tenths of it really lie in pages of that kind. */
LOCAL int chase_memory_has(const char *memory, size_t bytes, enum chase_pages pages);

/* Makes one cycle of the first BYTES, a multiple of CHASE_STEP lines; other seeds, other orders.
 */
LOCAL void chase_build(struct chase *chase, char *memory, size_t bytes, size_t seed);

/* The line that the cycle visits as number TURN, below LINES. */
LOCAL size_t chase_line(const struct chase *chase, size_t turn);

/* Makes so many loads, a multiple of CHASE_STEP. */
LOCAL void chase_walk(struct chase *chase, size_t loads);

/* Whether the walk is now where its number of loads leads. */
LOCAL int chase_is_right(const struct chase *chase);
