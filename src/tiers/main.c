#include "matrix.h"
#include "output.h"

#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

enum { DECLARED_DIFFERS = REASONS, CACHES = 4, LEAST_MIB = 64 };

static const struct reason reasons[] = {
	{ "declared-differs", IMPRECISE, "firmware declares another latency or bandwidth" },
	{ 0 },
};
static const double LOST_MOST = 0.05;

static int rounds = 3;
static int array_mib;

static const struct option_row rows[] = {
	{ 0, "rounds", "N", "how often each pair is measured (default: 3)", .count = &rounds,
	  .least = 3, .most = ROUNDS_MAX },
	{ 0, "array-mib", "N",
	  "MiB of each of the three arrays, and of the chain (default: four\n"
	  "last-level caches)",
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
};

static void choose_sizes(struct matrix *matrix, const struct cpuset *cpus)
{
	const size_t mib = (size_t)1 << 20;
	struct llc llc;
	size_t rule;

	llc_find(&llc, cpus, NULL);
	rule = CACHES * llc.bytes > LEAST_MIB * mib ? CACHES * llc.bytes : LEAST_MIB * mib;
	matrix->array_bytes = array_mib ? (size_t)array_mib * mib : rule;
	matrix->chain_bytes = matrix->array_bytes;
	if (matrix->array_bytes < rule)
		verdict_invalid(ARRAY_TOO_SMALL,
				"arrays of %zu MiB; four last-level caches are %zu MiB",
				matrix->array_bytes / mib, rule / mib);
	if (matrix->array_bytes > memory_available() / 5)
		die("three arrays and a chain of %zu MiB are more than the memory available%s",
		    "give less with '--array-mib'", matrix->array_bytes / mib,
		    memory_available_by());
}

static void judge_pair(const struct tier *p)
{
	if (!p->is_right)
		verdict_invalid(NOT_VALIDATED, "CPUs of %d, memory %d: a wrong element", p->cpus,
				p->memory);
	if (p->migrated)
		verdict_warn(DISTURBED,
			     "the kernel moved %llu pages of the node while CPUs of %d used "
			     "memory %d; ours lie where they should",
			     p->migrated, p->cpus, p->memory);
	if (p->lost > LOST_MOST)
		verdict_warn(UNSTABLE,
			     "CPUs of %d, memory %d: in the best pass of a round a thread lost "
			     "%.0f %% of its time",
			     p->cpus, p->memory, 100 * p->lost);
	if (output_differs(p->figures[0].median, p->declared.read_ns) ||
	    output_differs(p->figures[1].median, p->declared.read_gbs))
		verdict_warn(DECLARED_DIFFERS,
			     "CPUs of %d, memory %d: firmware declares %.4g ns and %.4g GB/s, "
			     "measured are %.4g and %.4g",
			     p->cpus, p->memory, p->declared.read_ns, p->declared.read_gbs,
			     p->figures[0].median, p->figures[1].median);
}

int main(int argc, char **argv)
{
	static struct matrix matrix;
	struct cpuset cpus;
	int i;

	program_start(&program, argc, argv);
	cpus = *threads_cpus();
	program_pins_itself();
	choose_sizes(&matrix, &cpus);
	matrix_find(&matrix, &cpus);
	printf("%d x %d pairs of domains, arrays of %zu MiB\n", matrix.from_count, matrix.to_count,
	       matrix.array_bytes >> 20);
	program_measuring();
	matrix_measure(&matrix, rounds, &cpus);
	program_measured();
	for (i = 0; i < matrix.count; i++)
		judge_pair(&matrix.pairs[i]);
	output_print(&matrix);
	output_metrics(&matrix);
	leave(program_end(&matrix));
}
