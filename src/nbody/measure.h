/*
 * measure: one run of the forces by a crew, and rounds of all crews in turn.
 *
 * A speed-up is of a run and of the baseline's run in the same round.  Every second round goes
 * the other way.  A run in which a thread lost its CPU for more than 2 % of the time is made
 * again, up to four times; of one that stays so the last try counts, and the round is spoilt.
 * Around each run every thread of the host counts its additions per cycle: two cores of a virtual
 * machine may be one core of its host.
 */
#pragma once

#include "bodies.h"

enum { ROUNDS_MAX = 101 };

/* Threads of the host, or of a device (0: all of it). */
struct crew {
	int threads, on_device;
	double seconds[ROUNDS_MAX];   /* by round */
	double additions[ROUNDS_MAX]; /* per cycle, of the thread that has the fewest */
	int shared_core;              /* two threads were on one core, as this machine knows it */
	int runs, spoilt;             /* runs made; disturbed rounds of each */
	int worked;                   /* the fewest threads with a share in a run */
	int not_offloaded;            /* runs that should have been on a device, and were not */
	double difference;            /* the largest from the baseline's forces */
	long wrong, wrong_body; /* bodies with a force that differs in a bit, the first of them */
	unsigned long long found, expected; /* its bits */
};

/* Bodies so that one thread takes about so many seconds, a multiple of what THREADS share. */
long bodies_for(enum precision precision, double seconds, int threads);

/* The forces of the first crew are kept: all other crews must get the same.  Of how many rounds
 * the times are: fewer where a signal ended the run. */
int crews_measure(struct crew *crews, int count, struct bodies *bodies, int rounds);

/* Of four sizes on the device: seconds of an offload of nothing, by time = a + b N^2. */
double offload_fixed_seconds(enum precision precision, long bodies);
