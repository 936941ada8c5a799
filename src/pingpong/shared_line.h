/*
 * shared_line: a ping-pong of two threads through the cache lines that they share.
 *
 * method  one round trip
 * cas     A and B take turns with compare-and-swap on one line
 * lines   A writes its line, B answers in its own: seven words of payload travel each way
 *
 * One way is half of a round trip.  Every turn writes the next number, so that a turn that was
 * lost, doubled or torn shows.  The lines are fresh pages for each pair, touched first by one
 * of the two: where they have their home makes a difference on some machines.
 */
#pragma once

#include "blocks.h"
#include "pairs.h"

enum method { METHOD_CAS, METHOD_LINES, METHODS };

extern const char *const method_names[METHODS];

struct meeting {
	struct pair pair;
	enum method method;
	int home; /* 0 or 1: which of the two touched the lines first */
	struct blocks blocks;
	int seen[2];                 /* a CPU that a side was on in place of its own, or SEEN_ */
	struct cpuset mask[2];       /* read back after pinning */
	int domain;                  /* of the page, -1 where the kernel does not say */
	unsigned long long wrong;    /* turns with a wrong payload */
	unsigned long long wrong_at; /* the first of them */
	unsigned long long turns;    /* all */
};

/* Measures a pair by two threads, which are pinned; the calling one stays so. */
void shared_line_meet(struct meeting *meeting, double budget);
