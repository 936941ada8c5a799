/*
 * dgemm_ceiling: GFLOPS CEILING MOST: the verdict on repetitions of so many GFlop/s with that
 * ceiling around each, in a run whose highest ceiling was MOST.
 */
#include "../../src/harness/harness.c"

#include "../../src/dgemm/judge.c"
#include "../../src/dgemm/repetitions.c"

const char *const shape_names[SHAPES] = { "square", "k192" };

static double highest;

double ceiling_most(void)
{
	return highest;
}

const char *blas_text(const struct blas *blas)
{
	return blas ? "a library" : "";
}

const char *blas_chosen_by(const struct blas *blas)
{
	return blas ? "" : NULL;
}

int main(int argc, char **argv)
{
	static struct repetition repetitions[10];
	struct shape shape = { .count = argc > 3 ? 10 : 0, .repetitions = repetitions };
	int i;

	for (i = 0; i < shape.count; i++) {
		struct repetition *const r = &repetitions[i];

		r->gflops = strtod(argv[1], NULL);
		r->ceiling.gflops = strtod(argv[2], NULL);
		r->percent = 100 * r->gflops / r->ceiling.gflops;
		r->workers.count = 1;
		r->workers.wall = r->workers.all = 0.1;
	}
	highest = strtod(argv[3], NULL);
	shape_judge(&shape, NULL, 1, 0);
	verdict_print(stdout);
	return 0;
}
