/*
 * sweep: every point of every mix, in random order, the latency without traffic between them.
 *
 * A point: the generators hold a rate, one thread walks its chain of dependent loads, for a
 * window of some 40 ms.  A window counts when every thread ran for at least 95 % of it
 * (each of them is always busy): a generator that was stopped or throttled did not make the
 * traffic that the latency would be said of.  Such a window is measured again, three times at
 * most, and no more of them in all than there are points.
 *
 * When the time is over, no further round begins, and one of the first three is not completed: the
 * run is incomplete.  Of a mix without a complete curve in three rounds the highest rate is what
 * it reached in any window: a lower bound.  The latency without traffic is that of the windows
 * that count; where they are too few, of all, by the CPU time of the thread.
 */
#pragma once

#include "curve.h"
#include "mixes.h"

#include "../harness/memory/chase.h"

/* Parts of the highest rate of the mix that are requested; 1: as fast as the generators can. */
enum { RATES = 10, ROUNDS_LEAST = 3, ROUNDS_MAX = 15, WINDOWS_MOST = 4 };
extern const double sweep_rates[RATES];

/* In a window. */
struct measured {
	double gbs, ns;
	double least_gbs, most_gbs; /* of one generator */
	double least_cpu;           /* of a thread, in parts of the window */
	double cpu_ns;              /* by the CPU time of the thread that chases */
	double sure_gbs;            /* all bytes, over the longest of the threads' windows */
};

struct point {
	int mix, rate; /* places in mixes[] and sweep_rates[] */
	int round;
	double requested_gbs; /* 0: as fast as it can */
	double unloaded_ns;   /* of the window without traffic just before it */
	struct measured m;
	int windows; /* that were measured for it */
	int counts;
};

struct sweep {
	struct chase chase;
	int generators;
	struct point *points; /* in the order in which they were measured */
	int count, rounds;    /* ROUNDS at most: those that there was time for */
	double until;         /* clock_now(); no further round after it, 0: all rounds */
	int again;            /* windows that were measured again */
	int mixes[MIXES], mix_count;
	double seconds;            /* of a window */
	double highest_gbs[MIXES]; /* of each mix, as the rates are parts of it */
	double sure_gbs[MIXES];    /* what it moved at least in the best of all windows */
	double *unloaded_ns;       /* every window without traffic that counts, in order of time */
	int unloaded_count, unloaded_all; /* of all windows without traffic */
	double *unloaded_cpu_ns;          /* of each, by CPU time */
};

/* By the first thread of a team; its other threads are generators: see main.c. */
void sweep_measure(struct sweep *sweep);

/* Figures of the sweep: medians of the rounds, with the range of the rounds. */
struct sweep_figure {
	double median, low, high; /* 0 where fewer than three rounds have it; no interval: 0, 0 */
	int rounds;
	int is_bound; /* the best of what did not count */
};
struct mix_figures {
	struct sweep_figure max_gbs, ns_at_half, gbs_at_2x;
	int wave_forms; /* rounds that have one */
	int rounds;     /* with a complete curve */
};
void sweep_figures(const struct sweep *sweep, int mix, struct mix_figures *figures);
struct sweep_figure sweep_unloaded(const struct sweep *sweep);

/* The point of a mix, rate and round; NULL where there is none that counts. */
const struct point *sweep_point(const struct sweep *sweep, int mix, int rate, int round);
