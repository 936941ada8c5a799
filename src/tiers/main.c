#include "matrix.h"
#include "output.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"
#include "../harness/memory/chase.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

enum { DECLARED_DIFFERS = REASONS, PAGES_MIGRATED };
enum { CACHES = 4, ARRAYS = 3, ROUNDS_USUAL = 5 };

/* From start to end, unless one round takes longer. */
static const double SECONDS = 30, QUICK_SECONDS = 5;

static const struct reason reasons[] = {
	[DECLARED_DIFFERS -
	 REASONS] = { "declared-differs", IMPRECISE, EITHER,
		      "differs by more than 20 % from what firmware declares (HMAT)" },
	[PAGES_MIGRATED - REASONS] = { "pages-migrated", IMPRECISE, EITHER,
				       "the kernel moved pages of the node meanwhile" },
	{ 0 },
};

static int rounds, quick, array_mib;

static const struct option_row rows[] = {
	{ 0, "quick", NULL, "5 s in place of 30: not all pairs on a node of many domains",
	  .flag = &quick },
	{ 0, "rounds", "N",
	  "how often each pair is measured (default: once, then up to 5 times\n"
	  "while there is time)",
	  .count = &rounds, .least = 3, .most = ROUNDS_MAX },
	{ 0, "array-mib", "N",
	  "MiB of each of the three arrays, and of the chain (default: what\n"
	  "lies in memory, as measured; a chain of 256 MiB)",
	  .count = &array_mib, .least = 1, .most = 1 << 20 },
	{ 0 },
};

static const struct program program = {
	"tiers",
	"Measures each memory of a node from each domain with CPUs: latency, read and Triad\n"
	"bandwidth, compared with what firmware declares.\n",
	rows,
	reasons,
	"GB/s",
	output_write,
	.has_table = 1,
	.headline = "triad_*",
	.pins_itself = 1,
};

/* The domain with the largest caches decides. */
static size_t largest_caches(const struct matrix *matrix)
{
	size_t most = 0;
	int f;

	for (f = 0; f < matrix->from_count; f++) {
		struct cpuset own;
		struct llc llc;

		matrix_cpus(&own, matrix->from[f], matrix);
		llc_find(&llc, &own, NULL);
		most = llc.bytes > most ? llc.bytes : most;
	}
	return most;
}

/* Bound memory is not taken from elsewhere: the smallest domain must have room for it. */
static size_t least_memory(const struct matrix *matrix)
{
	size_t least = memory_available();
	int t;

	for (t = 0; t < matrix->to_count; t++) {
		const size_t total = domain_bytes(matrix->to[t], "MemTotal");

		least = total && total < least ? total : least;
	}
	return least;
}

/* From what size on memory is used is measured first, by all threads in their own memory.  The
 * chain is the usual one where there is room for it, so that its latency is that of `loaded`. */
static void choose_sizes(struct matrix *matrix)
{
	const size_t domains = (size_t)matrix->from_count,
		     caches = domains * largest_caches(matrix), least = least_memory(matrix);
	const size_t three = least / 5 * 3 * domains, all = memory_available() / 5 * 4;
	struct residency_request request = { .rule = ARRAYS * CACHES * caches,
					     .given = ARRAYS * (size_t)array_mib * MIB * domains,
					     .declared = caches,
					     .most = three < all ? three : all,
					     .seconds = quick ? QUICK_SECONDS : SECONDS / 3 };
	char what[64];

	if (!request.rule)
		request.rule = ARRAYS * CHASE_USUAL;
	if (verdict_allows(ARRAY_TOO_SMALL))
		request.most = 0;
	triads_find(&matrix->residency, &request);
	matrix->array_bytes = array_mib ? (size_t)array_mib * MIB
					: matrix->residency.bytes / ARRAYS / domains / MIB * MIB;
	matrix->chain_bytes = matrix->array_bytes;
	matrix->laps = quick ? CELL_LAPS_QUICK : CELL_LAPS;
	if (!array_mib && matrix->chain_bytes < CHASE_USUAL &&
	    ARRAYS * matrix->array_bytes + CHASE_USUAL <= least / 5 * 4)
		matrix->chain_bytes = CHASE_USUAL;
	snprintf(what, sizeof(what), "arrays of %zu MiB", matrix->array_bytes / (size_t)MIB);
	triads_judge(&matrix->residency, &request, what);
	if (!matrix->array_bytes || matrix->array_bytes > least / 5)
		die("three arrays and a chain of %zu MiB do not fit into each domain's memory",
		    "give less with '--array-mib'", matrix->array_bytes / (size_t)MIB);
}

static void print_left_out(void)
{
	char list[CPU_LIST_MAX];
	struct cpuset all, allowed, left_out;
	int d;

	domains_with_memory(&all);
	domains_allowed(&allowed);
	cpuset_clear(&left_out);
	EACH_OF_SET (d, &all)
		if (!cpuset_has(&allowed, d))
			cpuset_add(&left_out, d);
	if (cpuset_count(&left_out))
		printf("note: memory %s is left out: not allowed in this job (cpuset.mems)\n",
		       cpuset_format(&left_out, list));
}

static void judge_declared(const struct matrix *matrix)
{
	const struct tier *first = NULL;
	int i, count = 0;

	for (i = 0; i < matrix->count; i++) {
		const struct tier *const p = &matrix->pairs[i];

		if (!output_differs(p, 0) && !output_differs(p, 1))
			continue;
		count++;
		first = first ? first : p;
	}
	if (first)
		verdict_warn(DECLARED_DIFFERS,
			     "%d of %d pairs: CPUs of %d, memory %d: firmware declares %.4g ns "
			     "and %.4g GB/s, measured are %.4g and %.4g",
			     count, matrix->count, first->cpus, first->memory,
			     first->declared.read_ns, first->declared.read_gbs,
			     first->figures[0].value, first->figures[1].value);
}

static void judge_pairs(const struct matrix *matrix)
{
	int i, f, bounds = 0, unvisited = 0;

	for (i = 0; i < matrix->count; i++) {
		const struct tier *const p = &matrix->pairs[i];

		unvisited += !p->visits;
		if (!p->is_right)
			verdict_invalid(NOT_VALIDATED,
					"CPUs of %d, memory %d: an element is wrong", p->cpus,
					p->memory);
		if (p->many_migrated)
			verdict_warn(PAGES_MIGRATED, "%llu pages while CPUs of %d used memory %d",
				     p->migrated, p->cpus, p->memory);
		for (f = 1; f < FIGURES; f++)
			bounds += p->figures[f].is_bound;
	}
	if (unvisited)
		verdict_invalid(INCOMPLETE, "%d of %d pairs were not measured", unvisited,
				matrix->count);
	if (bounds)
		verdict_warn(UNSTABLE, "%d of %d rates are lower bounds", bounds,
			     (FIGURES - 1) * matrix->count);
	judge_declared(matrix);
}

int main(int argc, char **argv)
{
	const double began = clock_now();
	static struct matrix matrix;

	program_start(&program, argc, argv);
	matrix_find(&matrix, threads_cpus());
	if (cpuset_count(threads_cpus()) < threads_available())
		verdict_warn(WRONG_PINNING,
			     "%d of %d CPUs: OMP_PLACES or OMP_NUM_THREADS leaves out the others",
			     cpuset_count(threads_cpus()), threads_available());
	choose_sizes(&matrix);
	printf("%d x %d pairs of domains, arrays of %zu MiB, a chain of %zu MiB\n"
	       "Arrays lie in memory: %s\n",
	       matrix.from_count, matrix.to_count, matrix.array_bytes >> 20,
	       matrix.chain_bytes >> 20, triads_text(&matrix.residency));
	print_left_out();
	program_measuring();
	/* a whole matrix takes longer on a node of many domains */
	matrix_measure(&matrix, rounds ? rounds : ROUNDS_USUAL, quick ? 1 : matrix.count,
		       rounds ? 0 : began + (quick ? QUICK_SECONDS : SECONDS));
	program_measured();
	matrix_sum_up(&matrix);
	output_print(&matrix);
	judge_pairs(&matrix);
	output_metrics(&matrix);
	leave(program_end(&matrix));
}
