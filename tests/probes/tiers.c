/* tiers CPUS: the pairs of domains that src/tiers measures on a recorded machine, and what its
 * firmware declares of each: "cpus memory ns gbs distance" on a line. */
#include "harness/harness.c"

#include "tiers/cell.c"
#include "tiers/declared.c"
#include "tiers/matrix.c"
#include "tiers/migrated.c"

int main(int argc, char **argv)
{
	static struct matrix matrix;
	struct cpuset cpus;
	int i;

	cpuset_parse(&cpus, argc > 1 ? argv[1] : "");
	matrix_find(&matrix, &cpus);
	for (i = 0; i < matrix.count; i++) {
		const struct tier *const t = &matrix.pairs[i];

		printf("%d %d %g %g %d\n", t->cpus, t->memory, t->declared.read_ns,
		       t->declared.read_gbs, t->declared.distance);
	}
	return 0;
}
