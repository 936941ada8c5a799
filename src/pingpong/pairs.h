/*
 * pairs: which two CPUs, and what they share.
 *
 * The class of a pair is the innermost thing that both belong to.  Without a request the
 * nearest and the farthest pair of each class are taken: near and far by the number of the
 * core, which follows the ring or the mesh on the machines that we know.
 */
#pragma once

#include "../harness/machine/cpuset.h"

enum pair_class {
	PAIR_SMT,
	PAIR_LLC,
	PAIR_DOMAIN,
	PAIR_SOCKET,
	PAIR_NODE,
	PAIR_REMOTE,
	PAIR_CLASSES
};

/* In place of a CPU that a side was seen on: on its own; the kernel did not say. */
enum { SEEN_AT_HOME = -1, SEEN_NOWHERE = -2 };

struct pair {
	int cpu[2];
	enum pair_class class;
};

struct pairs {
	struct pair *list;
	int count;
};

extern const char *const pair_class_names[PAIR_CLASSES];

/* The nearest and the farthest of each class of one node among these CPUs, one CPU per core but
 * for smt. */
void pairs_default(struct pairs *pairs, const struct cpuset *cpus);

/* COUNT players in rounds where each meets every other one once (the circle method of round-robin
 * tournaments): how many rounds, and the partner of ONE in a round, -1 for none. */
int pairs_rounds(int count);
int pairs_partner(int count, int round, int one);

/* Every pair of cores. */
void pairs_all(struct pairs *pairs, const struct cpuset *cpus);

/* Reads "0-1,0-13"; dies of a CPU that is not among these, of a pair named twice, of no pair. */
void pairs_read(struct pairs *pairs, const char *option, const char *text,
		const struct cpuset *cpus);

/* Dies of a pair with itself, and of 1-0 after 0-1: between two CPUs of one node the way is the
 * same from either side.  Between two nodes both are pairs. */
void pairs_within_a_node(const struct pairs *pairs, const char *option, const char *text);
