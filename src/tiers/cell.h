/*
 * cell: one domain's CPUs and one domain's memory: latency, read and Triad bandwidth.
 *
 * A visit pins one thread to each core of the domain, binds new memory to the other domain (each
 * thread its own, MPOL_BIND), proves where the pages lie, measures, and proves it again: pages
 * that moved meanwhile make the figures wrong.  Latency is the best of the laps, of one thread.
 * A pass is of all threads together, from the earliest start to the latest end.  Triad counts 24
 * bytes per element, as STREAM does.
 */
#pragma once

#include "../harness/machine/cpuset.h"
#include "../harness/memory/placement.h"

enum { CELL_LAPS = 3, CELL_LAPS_QUICK = 1, CELL_PASSES = 5 };
enum { CELL_READ, CELL_TRIAD, CELL_RATES };

struct visit {
	double ns, ns_lost; /* the share of its time that a thread lost in the best lap */
	double gbs[CELL_RATES][CELL_PASSES], lost[CELL_RATES][CELL_PASSES];
	struct placement before, after;
	unsigned long long migrated; /* pages of the node that the kernel moved between
					the two looks */
	int is_right;                /* every element, and the chain's end */
};

/* The threads of CPUS, one per core; arrays of so many bytes, and LAPS of a chain of CHAIN_BYTES.
 */
void cell_visit(struct visit *visit, const struct cpuset *cpus, int memory, size_t array_bytes,
		size_t chain_bytes, int laps);
