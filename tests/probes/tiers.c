/* tiers CPUS [CPUS-MEMORY=NS ...]: the pairs of domains that src/tiers measures on a recorded
 * machine, and what its firmware declares of each: "cpus memory ns gbs distance" on a line.  With
 * latencies, as if they were measured: what tiers prints of them. */
#include "harness/harness.c"

#include "tiers/cell.c"
#include "tiers/matrix.c"
#include "tiers/output.c"

static void set_latency(const struct matrix *matrix, const char *text)
{
	int i, cpus, memory;
	double ns;

	if (sscanf(text, "%d-%d=%lf", &cpus, &memory, &ns) != 3)
		exit(2);
	for (i = 0; i < matrix->count; i++)
		if (matrix->pairs[i].cpus == cpus && matrix->pairs[i].memory == memory)
			matrix->pairs[i].figures[0].value = ns;
}

int main(int argc, char **argv)
{
	static struct matrix matrix;
	struct cpuset cpus;
	int i;

	cpuset_parse(&cpus, argc > 1 ? argv[1] : "");
	matrix_find(&matrix, &cpus);
	for (i = 2; i < argc; i++)
		set_latency(&matrix, argv[i]);
	if (argc > 2)
		output_print(&matrix);
	for (i = 0; argc == 2 && i < matrix.count; i++) {
		const struct tier *const t = &matrix.pairs[i];

		printf("%d %d %g %g %d\n", t->cpus, t->memory, t->declared.read_ns,
		       t->declared.read_gbs, t->declared.distance);
	}
	return 0;
}
