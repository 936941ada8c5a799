#include "matrix.h"
#include "output.h"

#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

enum { DECLARED_DIFFERS = REASONS, PAGES_MIGRATED, CACHES = 4, LEAST_MIB = 64 };

static const struct reason reasons[] = {
	{ "declared-differs", IMPRECISE,
	  "differs by more than 20 % from what firmware declares (HMAT)" },
	{ "pages-migrated", IMPRECISE, "the kernel moved pages of the node meanwhile" },
	{ 0 },
};

static int rounds = 5;
static int array_mib;

static const struct option_row rows[] = {
	{ 0, "rounds", "N", "how often each pair is measured (default: 5)", .count = &rounds,
	  .least = 3, .most = ROUNDS_MAX },
	{ 0, "array-mib", "N",
	  "MiB of each of the three arrays, and of the chain\n"
	  "(default: four times the last-level caches of a domain)",
	  .count = &array_mib, .least = 1, .most = 1 << 20 },
	{ 0 },
};
static const struct option_row *const tables[] = { rows, NULL };

static void write_tiers(const void *data)
{
	output_write(data);
}

static const struct program program = {
	"tiers",
	"Measures each memory of a node from each domain with CPUs: latency, read and Triad\n"
	"bandwidth, compared with what firmware declares.\n",
	tables,
	reasons,
	"GB/s",
	write_tiers,
	.has_table = 1,
	.headline = "triad_*",
};

/* The domain with the largest caches decides. */
static size_t largest_caches(const struct matrix *matrix, const struct cpuset *cpus)
{
	size_t most = 0;
	int f;

	for (f = 0; f < matrix->from_count; f++) {
		struct cpuset own;
		struct llc llc;

		matrix_cpus(&own, matrix->from[f], cpus);
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

static void choose_sizes(struct matrix *matrix, const struct cpuset *cpus)
{
	const size_t mib = (size_t)1 << 20;
	size_t rule = CACHES * largest_caches(matrix, cpus);

	rule = rule > LEAST_MIB * mib ? rule : LEAST_MIB * mib;
	matrix->array_bytes = array_mib ? (size_t)array_mib * mib : rule;
	matrix->chain_bytes = matrix->array_bytes;
	if (matrix->array_bytes < rule)
		verdict_invalid(ARRAY_TOO_SMALL,
				"arrays of %zu MiB; four last-level caches are %zu MiB",
				matrix->array_bytes / mib, rule / mib);
	if (matrix->array_bytes > least_memory(matrix) / 5)
		die("three arrays and a chain of %zu MiB do not fit into each domain's memory",
		    "give less with '--array-mib'", matrix->array_bytes / mib);
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
	int i, f, bounds = 0;

	for (i = 0; i < matrix->count; i++) {
		const struct tier *const p = &matrix->pairs[i];

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
	if (bounds)
		verdict_warn(UNSTABLE, "%d of %d rates are lower bounds", bounds,
			     (FIGURES - 1) * matrix->count);
	judge_declared(matrix);
}

int main(int argc, char **argv)
{
	static struct matrix matrix;
	struct cpuset cpus;

	program_start(&program, argc, argv);
	cpus = *threads_cpus();
	program_pins_itself();
	matrix_find(&matrix, &cpus);
	choose_sizes(&matrix, &cpus);
	printf("%d x %d pairs of domains, arrays of %zu MiB\n", matrix.from_count, matrix.to_count,
	       matrix.array_bytes >> 20);
	print_left_out();
	program_measuring();
	matrix_measure(&matrix, rounds, &cpus);
	program_measured();
	matrix_sum_up(&matrix);
	output_print(&matrix);
	judge_pairs(&matrix);
	output_metrics(&matrix);
	leave(program_end(&matrix));
}
