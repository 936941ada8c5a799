/*
 * looks: short looks after the repetitions, at the same arrays.
 *
 * read      sum over each array by the widest loads, checked to the bit: what a memory that is
 *           only read gives (LLM inference, databases); always, and a metric
 * write     one value into each array, by the stores that the compiler chose; always, and a
 *           metric; the last of all, as it takes away what the arrays are checked for
 *
 * ordinary  Triad by ordinary stores     } what a store costs here: an ordinary one reads the line
 * nt        Triad by non-temporal stores } that it writes, or the CPU claims the line
 * half      ordinary, by every second thread; one: by one thread, over a part of its domain:
 *           whether the cores or the memory are the limit
 *
 * The Triads are taken with --explain alone.  Triad once more changes nothing: what it reads is
 * as the last repetition left it.
 */
#pragma once

#include "../measure.h"

enum { LOOK_DOMAINS_MOST = 64 };

enum look { LOOK_read, LOOK_write, LOOK_ordinary, LOOK_nt, LOOK_half, LOOK_one, LOOKS };

/* What the threads of a NUMA domain read in the same repetitions: each notes when its share is
 * done. */
struct domain_look {
	int domain;
	double bytes;
	struct timing of;
};

struct looks {
	struct timing of[LOOKS];
	double bytes[LOOKS]; /* of one repetition, as STREAM counts; 0: not looked */
	int complete[LOOKS]; /* repetitions */
	int half_threads;
	int domains; /* of the threads; none where there is one alone */
	struct domain_look domain[LOOK_DOMAINS_MOST];
	unsigned long long wrong_sums;
};

/* EXPLAIN: all of them; PASSED iterations are behind the arrays.  Nothing in an MPI job. */
void looks_take(struct looks *looks, const struct measurement *measurement,
		const struct arrays *arrays, int explain);

/* Writes over the arrays; finds not-validated where one of them does not hold it all. */
void looks_take_write(struct looks *looks, const struct measurement *measurement,
		      const struct arrays *arrays);

/* Finds not-validated where a sum is wrong. */
void looks_judge(const struct looks *looks);

/* Sets the metrics `read` and `write`; writes "looks" of the record. */
void looks_metric(const struct looks *looks);
void looks_write(const struct looks *looks);

/* Ends the line of the rates by read and write. */
void looks_print_rates(const struct looks *looks);

/* What --explain found, for people. */
void looks_print(const struct looks *looks);
