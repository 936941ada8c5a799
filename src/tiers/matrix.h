/*
 * matrix: every domain with CPUs, every domain with memory, in random order, round by round.
 */
#pragma once

#include "cell.h"
#include "declared.h"

enum { TIERS_MAX = 64, ROUNDS_MAX = 15, FIGURES = 3 };

/* "ns", "read_gbs", "triad_gbs" */
extern const char *const figure_names[FIGURES];

/* Median of the rounds, the least, the largest. */
struct figure {
	double median, low, high;
};

struct tier {
	int cpus, memory; /* domains */
	struct declared declared;
	double values[FIGURES][ROUNDS_MAX];
	struct figure figures[FIGURES];
	struct visit last;
	unsigned long long migrated;
	double lost;
	int is_right, visits;
};

struct matrix {
	struct tier *pairs;
	int count;
	int from[TIERS_MAX], from_count; /* domains with CPUs that may be used */
	int to[TIERS_MAX], to_count;     /* domains with memory */
	size_t array_bytes, chain_bytes;
};

/* Which domains there are, of the CPUs that may be used; sizes are set by main.c. */
void matrix_find(struct matrix *matrix, const struct cpuset *cpus);

/* The CPUs of a domain among those. */
void matrix_cpus(struct cpuset *of, int domain, const struct cpuset *cpus);

void matrix_measure(struct matrix *matrix, int rounds, const struct cpuset *cpus);

const struct tier *matrix_pair(const struct matrix *matrix, int cpus, int memory);
