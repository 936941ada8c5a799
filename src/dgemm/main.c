#include "judge.h"
#include "output.h"

#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/cgroup.h"
#include "../harness/machine/topology.h"
#include "../harness/program.h"

static const struct reason reasons[] = {
	[THREADS_IDLE - REASONS] = { "threads-idle", WRONG, HARMED,
				     "fewer threads worked than were requested" },
	[WRONG_LIBRARY - REASONS] = { "wrong-library", WRONG, EITHER,
				      "another library than requested was called" },
	[FORCED_KERNELS - REASONS] = { "forced-kernels", WRONG, HARMED,
				       "the environment chose the library's kernels" },
	{ 0 },
};

enum { LOOKS = 9 };

static struct {
	int n, threads, repetitions; /* 0: as it is best here */
	int shape;                   /* SHAPES: both */
	const char *libraries, *threading;
	double stated, max_seconds; /* of each shape */
} requested = { 0, 0, 0, SHAPES, NULL, NULL, 0, 8 };

static void set_threading(const char *option, const char *text)
{
	static const char *const words[] = { "none", "pthreads", "openmp", "tbb" };

	requested.threading = words[option_word(option, text, words, 4)];
}

static const struct option_row rows[] = {
	{ 'n', "size", "N",
	  "m = n (default: square takes 0.15 s, and exceeds four last-level caches;\n"
	  "k192 takes 0.1 s, 15000 at most; both fit in memory)",
	  .count = &requested.n, .least = 8, .most = 1000000 },
	{ 0, "shape", "NAME",
	  "only square (m = n = k) or k192 (k = 192, as in nodeperf and HPL's update)",
	  .word = &requested.shape, .words = shape_names, .most = SHAPES },
	{ 't', "repetitions", "T",
	  "exactly T repetitions (default: two seconds or more, until the share is known\n"
	  "within one percentage point)",
	  .count = &requested.repetitions, .least = 1, .most = REPETITIONS_MAX },
	{ 0, "max-seconds", "S", "at most S seconds for each shape, without -t (default: 8)",
	  .number = &requested.max_seconds, .most = 1000000, .hint = "give seconds, as in 30" },
	{ 0, "threads", "T",
	  "T threads must work (default: one for each core of the node, also if affinity\n"
	  "or OMP_NUM_THREADS allow fewer)",
	  .count = &requested.threads, .least = 1, .most = CPUS_MAX },
	{ 0, "library", "NAMES",
	  "beginnings of file names, with commas: all must be loaded, one must be called",
	  .text = &requested.libraries },
	{ 0, "threading", "KIND",
	  "threads that the library must report: none, pthreads, openmp or tbb",
	  .set = set_threading },
	{ 0, "stated", "GFLOPS", "stated peak of the node, to compare with the attainable rate",
	  .number = &requested.stated, .most = 1000000000000, .hint = "give GFlop/s, as in 448" },
	{ 0 },
};

static const struct program program = {
	"dgemm",
	"Measures how much of a node's arithmetic a BLAS reaches: dgemm of the library that this\n"
	"program was linked with, in GFlop/s and in percent of what the same threads can do at\n"
	"that moment; every element of the product is validated.\n",
	rows,
	reasons,
	NULL,
	output_write,
	.headline = "square",
};

/* One for each core of the node, of those that a cgroup's quota grants. */
static int cores_of_node(void)
{
	const int whole = cgroup_whole_cpus();
	struct cpuset online;
	int cores;

	cpuset_online(&online);
	cores = cpuset_count(&online) ? topology_cores(&online) : threads_count();
	return whole && whole < cores ? whole : cores;
}

/* GFlop/s at the best of several moments: sizes do not depend on who disturbed one of them. */
static double most_attainable(void)
{
	double most = 0;
	int i;

	for (i = 0; i < LOOKS; i++) {
		struct ceiling now;

		ceiling_measure(&now);
		most = now.gflops > most ? now.gflops : most;
	}
	return most;
}

static void measure_all(struct run *run)
{
	const double attainable = requested.n ? 1 : most_attainable();
	int kind;

	for (kind = 0; kind < SHAPES; kind++) {
		struct shape *const s = &run->shapes[run->count];

		if (requested.shape != SHAPES && requested.shape != kind)
			continue;
		measure_size(s, (enum shape_kind)kind, (size_t)requested.n, attainable);
		measure_shape(s, requested.repetitions, requested.max_seconds);
		run->count++;
	}
}

static void judge_all(struct run *run)
{
	int i;

	blas_judge(&run->blas, WRONG_LIBRARY, requested.libraries, requested.threading);
	kernels_judge(&run->blas);
	for (i = 0; i < run->count; i++) {
		shape_judge(&run->shapes[i], &run->blas, run->threads, run->stated);
		validate_judge(&run->shapes[i].wrong, shape_names[run->shapes[i].kind]);
	}
}

int main(int argc, char **argv)
{
	static struct run run;

	program_join(&argc, &argv);
	program_start(&program, argc, argv);
	run.threads = requested.threads ? requested.threads : cores_of_node();
	run.stated = requested.stated;
	blas_look(&run.blas);
	ceiling_start(run.threads);
	program_measuring();
	measure_all(&run);
	program_measured();
	judge_all(&run);
	output_print(&run);
	output_metrics(&run);
	leave(program_end(&run));
}
