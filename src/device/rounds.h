/*
 * rounds: the kernels in turn, again and again, and what the two clocks say of each launch.
 *
 * The figure is by the host's clock, from before a launch until it has ended.  The device's own
 * clock must agree.
 */
#pragma once

#include "shape.h"

#include "../harness/rate.h"
#include "../harness/verdict.h"

/* The program's own reasons (main.c). */
enum { NOT_A_CARD = REASONS, CARD_SHARED, CLOCKS_DIFFER, SINGLE_PRECISION };

enum { ROUNDS_USUAL = 40, ROUNDS_LEAST = 10 };

struct rounds {
	int count;
	double host[KERNELS][ROUNDS_MOST], device[KERNELS][ROUNDS_MOST]; /* seconds */
	int wrong_sums, wrong_writes; /* rounds in which a read or a write went wrong */
	struct rate rates[KERNELS];
};

/* COUNT rounds, after one that is not counted; fewer than that, but ROUNDS_LEAST, where SECONDS
 * are over. */
void rounds_measure(struct rounds *rounds, struct arrays *arrays, const struct shapes *shapes,
		    int count, double seconds);

/* The rates, and what is wrong with them: not-validated, clock, too-short. */
void rounds_judge(struct rounds *rounds, const struct arrays *arrays);
