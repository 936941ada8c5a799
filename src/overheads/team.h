/*
 * team: what each thread of a team did in a block, and whether it was all of it.
 */
#pragma once

#include "../harness/verdict.h"
#include "delay.h"

/* Own reasons of this program, in the order of their names in main.c. */
enum { NEGATIVE_OVERHEAD = REASONS, FEWER_THREADS, DELAY_OPTIMIZED_AWAY };

/* Two lines: adjacent ones are fetched in pairs. */
struct worker {
	word x;           /* the trace of its delays */
	word block;       /* the last one that it took part in */
	const void *copy; /* its own copy of an array */
	long wrong;       /* copies that did not hold what was copied */
	char unused[LINES_APART - 2 * sizeof(word) - sizeof(void *) - sizeof(long)];
};

/* A team of so many threads; before the constructs run. */
void team_start(int threads);
int team_count(void);

/* This thread's own; it has a part in the block. */
struct worker *worker_here(void);

/* Its delay, once and so many times. */
void work(struct worker *worker);
void work_long(struct worker *worker, int times);

/* The number of the block that runs: no other has it. */
word block_now(void);

/* A sum of a block: of a wrong one the first is kept. */
void sum_expect(double sum, double expected);

/* Before and after a block, not timed.  DELAYS: how many all threads together should have made;
 * THREADS: how many should take part.  Finds not-validated and fewer-threads, for NAME. */
void block_begin(void);
void block_end(const char *name, word delays, int threads);
