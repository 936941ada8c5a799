/*
 * candidates: which variants the search tries, and what it saw of each.
 */
#pragma once

#include "../tuned/variants.h"

enum { CANDIDATES_MOST = 512, ROUNDS_MOST = 99 };

/* Speeds against the anchor of the same moment: its time over the candidate's. */
struct ratios {
	int rounds;
	double of[ROUNDS_MOST];
	double median; /* 0 before the first round */
};

struct candidate {
	struct variant variant;
	struct ratios probe;   /* to the anchor of its kind of store */
	struct ratios confirm; /* to the best without write-allocate */
};

struct candidates {
	int count;
	struct candidate of[CANDIDATES_MOST];
};

/* Adds every variant with this store that runs here, with one distance. */
void candidates_add_store(struct candidates *candidates, enum store store);

/* Adds what differs from a variant in distance alone. */
void candidates_add_distances(struct candidates *candidates, struct variant variant);

void ratios_add(struct ratios *ratios, double ratio);
