/*
 * cell: one domain's CPUs and one domain's memory: latency, read and Triad bandwidth.
 *
 * A visit pins one thread to each core of the domain, binds new memory to the other domain (each
 * thread its own, MPOL_BIND), proves where the pages lie, measures, and proves it again: pages
 * that moved meanwhile make the figures wrong.  Read and Triad are the best of the passes, each
 * of all threads together, from the earliest start to the latest end.  Triad counts 24 bytes per
 * element, as STREAM does.
 */
#pragma once

#include "../harness/machine/cpuset.h"
#include "../harness/memory/placement.h"

enum { CELL_PASSES = 5 };

struct visit {
	double ns, read_gbs, triad_gbs;
	struct placement before, after;
	unsigned long long migrated; /* pages of the node that the kernel moved meanwhile */
	double lost;  /* of the undisturbed-most pass: the largest share a thread lost */
	int is_right; /* every element, and the chain's end */
};

/* The threads of CPUS, one per core; arrays of so many bytes, and a chain of CHAIN_BYTES. */
void cell_visit(struct visit *visit, const struct cpuset *cpus, int memory, size_t array_bytes,
		size_t chain_bytes);
