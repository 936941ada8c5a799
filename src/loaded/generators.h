/*
 * generators: threads that move memory at a requested rate in GB/s.
 *
 * A generator works in chunks of CHUNK_LINES lines.  After each it compares what it has moved
 * with what the rate allows by now, and waits while it is ahead: a closed loop, so the rate does
 * not depend on the CPU's clock as a count of nops does.  It never sleeps: a generator whose CPU
 * time is less than the time that passed was stopped, throttled or kept from its CPU.
 *
 * Each has arrays of its own, touched first by itself.  What is read is checked chunk by chunk
 * (the words are a known sequence), what was written at the end, line by line.
 */
#pragma once

#include "mixes.h"

/* What one thread did in one window. */
struct window {
	double seconds; /* of the wall */
	double cpu_s;   /* CPU time of the thread in it */
	double bytes;   /* counted */
};

/* For that many generators; the arrays of each hold BYTES to read and as many to write. */
void generators_make(int count, size_t bytes);

/* By the thread of generator G itself: maps and touches its arrays. */
void generator_touch(int g);

/* By the thread itself, until GENERATORS_STOP: moves memory by this mix at RATE counted bytes
 * per second; 0: as fast as it can; below 0: none, but it stays awake. */
void generator_run(int g, const struct mix *mix, double rate);

/* By the thread that chases, around a point: the generators end when it is over. */
void generators_start(void);
void generators_wait_running(void);
enum generators_event { GENERATOR_RUNS, WINDOW_OPENS, WINDOW_CLOSES, GENERATORS_STOP, EVENTS };
void generators_tell(enum generators_event event);

/* Of generator G in the last window. */
const struct window *generator_window(int g);

/* Finds not-validated: a word that was read or written wrongly. */
void generators_validate(void);

/* The arrays of generator G, for their placement: what it reads, what it writes. */
const void *generator_memory(int g, int written);
size_t generator_bytes(void);
