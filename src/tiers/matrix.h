/*
 * matrix: every domain with CPUs, every domain with memory, round by round, each round
 * from another pair on and in the other direction.
 *
 * A rate is what rate.h makes of all passes.  A latency is the median of the rounds, its interval
 * reaches from the least to the largest: of five rounds they contain the median of all rounds
 * with 94 %.  Where fewer than three rounds were undisturbed, other processes used too much
 * of the node, or the kernel moved many pages, a rate is a lower bound and a latency has no
 * interval.
 */
#pragma once

#include "cell.h"

#include "../harness/rate.h"
#include "../harness/residency/triads.h"

enum { TIERS_MAX = 64, ROUNDS_MAX = 15, FIGURES = 3, PASSES_MAX = ROUNDS_MAX * CELL_PASSES };

/* "ns", "read_gbs", "triad_gbs" */
extern const char *const figure_names[FIGURES];

/*
 * What the firmware says of a memory, seen from a domain with CPUs.  HMAT (ACPI 6.2 and later), as
 * the kernel shows it: only for the best initiators of a memory, so not for each pair.  Sources:
 * Documentation/admin-guide/mm/numaperf.rst of Linux; access1 is among CPUs alone (5.10 and
 * later), access0 among devices, too.  SLIT: distances relative to 10.
 */
struct declared {
	double read_ns, read_gbs; /* HMAT; 0: it does not say */
	int distance, local;      /* SLIT: of this pair, and of the domain to itself; 0: none */
};

struct tier {
	int cpus, memory; /* domains */
	struct declared declared;
	double ns[ROUNDS_MAX], ns_lost[ROUNDS_MAX];
	double gbs[CELL_RATES][PASSES_MAX], lost[CELL_RATES][PASSES_MAX];
	struct rate figures[FIGURES]; /* low and high 0: no interval */
	struct visit last;
	unsigned long long migrated; /* pages of the node, in the round with most */
	int many_migrated;           /* more than one in a hundred of ours */
	int is_right, visits;
};

struct matrix {
	struct cpuset cpus; /* that may be used */
	struct tier *pairs;
	int count;
	int from[TIERS_MAX], from_count; /* domains with CPUs that may be used */
	int to[TIERS_MAX], to_count;     /* domains with memory that may be used */
	size_t array_bytes, chain_bytes;
	int laps; /* of the chain, per visit */
	struct residency_found residency;
};

/* Which domains there are, of the CPUs that may be used; sizes are set by main.c. */
void matrix_find(struct matrix *matrix, const struct cpuset *cpus);

/* The CPUs of a domain among those. */
void matrix_cpus(struct cpuset *of, int domain, const struct matrix *matrix);

/* So many rounds, but behind the first LEAST visits none that would end after UNTIL (0: no limit):
 * pairs may have fewer visits then, or none. */
void matrix_measure(struct matrix *matrix, int rounds, int least, double until);

/* The figures, after program_measured(). */
void matrix_sum_up(struct matrix *matrix);

const struct tier *matrix_pair(const struct matrix *matrix, int cpus, int memory);
