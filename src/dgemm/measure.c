#include "measure.h"

#include "blas/blas.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/threads.h"
#include "../harness/fault.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The square one: seconds of a multiplication; k = 192: of all calls of a repetition. */
static const double SQUARE_LASTS = 2.2, K192_LASTS = 0.5, ROUGH_LASTS = 0.1;
/* LLC_FACTOR: as of arrays of STREAM.  NODEPERF_N: C (15000 x 15000) += A (15000 x 192) B. */
enum { LLC_FACTOR = 4, NODEPERF_K = 192, NODEPERF_N = 15000, ROUGH_N = 512, CALLS_MAX = 100000 };
static const double MEMORY_SHARE = 0.7;

const char *const shape_names[SHAPES] = { "square", "k192" };

static void multiply(const struct matrices *x)
{
	const int m = (int)x->m, n = (int)x->n, k = (int)x->k;
	const int lda = (int)x->leading[MATRIX_A], ldb = (int)x->leading[MATRIX_B];
	const int ldc = (int)x->leading[MATRIX_C];
	const double one = 1;

	dgemm_("N", "N", &m, &n, &k, &one, x->of[MATRIX_A], &lda, x->of[MATRIX_B], &ldb, &one,
	       x->of[MATRIX_C], &ldc);
}

static void multiply_repeatedly(struct matrices *x, int calls)
{
	int i;

	for (i = 0; i < calls; i++)
		multiply(x);
	x->times_added += calls;
}

/* As a program would that calls a library from within its own parallel region. */
static void run_calls(struct matrices *x, int calls)
{
#ifdef MEMBW_PLANT_NESTED
#pragma omp parallel
#pragma omp single
#endif
	multiply_repeatedly(x, calls);
}

double shape_flops(const struct shape *s)
{
	return 2.0 * (double)s->m * (double)s->n * (double)s->k * s->calls;
}

double measure_roughly(void)
{
	struct matrices x;
	double took = 0;
	size_t n = ROUGH_N;

	for (;; n = n * 3 / 2) {
		matrices_make(&x, n, n, n);
		multiply(&x); /* the first time the library starts its threads */
		took = clock_now();
		multiply(&x);
		took = clock_now() - took;
		matrices_free(&x);
		if (took > ROUGH_LASTS)
			return 2e-9 * (double)n * (double)n * (double)n / took;
	}
}

/* The largest multiple of 8 whose power is not above the value; without libm, which no line has.
 */
static size_t root(double value, int power)
{
	double n = 8;

	while ((power == 3 ? n + 8 : 1) * (n + 8) * (n + 8) <= value)
		n += 8;
	return (size_t)n;
}

/* The largest N of a square matrix of which COUNT take so many bytes. */
static size_t side_of(double bytes, int count)
{
	return root(bytes / (8.0 * count), 2);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t square_side(double gflops)
{
	const size_t by_time = root(SQUARE_LASTS * 1e9 * gflops / 2, 3);
	const size_t by_llc =
		side_of(LLC_FACTOR * (double)llc_bytes(threads_cpus(), NULL), MATRICES);
	const size_t by_memory = side_of(MEMORY_SHARE * (double)memory_available(), MATRICES);

	return smaller(by_time > by_llc ? by_time : by_llc, by_memory);
}

static size_t k192_side(double gflops)
{
	const size_t by_time = root(K192_LASTS * 1e9 * gflops / 2 / NODEPERF_K, 2);
	const size_t by_memory = side_of(MEMORY_SHARE * (double)memory_available(), 1);

	return smaller(smaller(by_time, NODEPERF_N), by_memory);
}

void measure_size(struct shape *s, enum shape_kind kind, size_t n, double gflops)
{
	const size_t side = n ? n : kind == SQUARE ? square_side(gflops) : k192_side(gflops);
	double calls;

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->m = s->n = side;
	s->k = kind == SQUARE ? s->n : NODEPERF_K;
	if (matrices_bytes(s->m, s->n, s->k) > 0.95 * (double)memory_available())
		die("'-n %zu' takes %.0f MiB, but there are %.0f MiB of memory", "give less", n,
		    matrices_bytes(s->m, s->n, s->k) / 1048576,
		    (double)memory_available() / 1048576);
	s->calls = 1;
	calls = K192_LASTS * 1e9 * gflops / shape_flops(s);
	if (kind == K192 && calls > 1)
		s->calls = calls < CALLS_MAX ? (int)calls + 1 : CALLS_MAX;
}

static void time_calls(struct repetition *r, const struct shape *s, struct matrices *x, int i)
{
	struct interference others;
	double began;

	interference_start(&others, threads_cpus());
	workers_start();
	began = clock_now();
	run_calls(x, s->calls);
	began = clock_now() - began;
	began = fault_time(began, i);
	workers_stop(&r->workers);
	r->workers.wall = began;
	interference_stop(&others, threads_cpus(), NULL);
	r->others = others.all - others.own + others.steal;
	r->gflops = 1e-9 * shape_flops(s) / began;
}

/* BEFORE becomes what was measured after it. */
static void measure_repetition(struct repetition *r, const struct shape *s, struct matrices *x,
			       int i, struct ceiling *before)
{
	struct ceiling after;
	double worked;

	time_calls(r, s, x, i);
	ceiling_measure(&after);
	r->ceiling = after;
	r->ceiling.gflops = (before->gflops + after.gflops) / 2;
	r->ceiling.ghz = (before->ghz + after.ghz) / 2;
	r->moved = after.gflops / before->gflops - 1;
	/* where the kernel does not count, or not finely enough, the wall clock does */
	worked = r->workers.count && r->workers.most < r->workers.wall ? r->workers.most
								       : r->workers.wall;
	r->percent = 100e-9 * shape_flops(s) / worked / r->ceiling.gflops;
	threads_sample();
	*before = after;
}

void measure_shape(struct shape *s, int repetitions)
{
	struct matrices x;
	struct ceiling before;
	int i;

	s->count = repetitions;
	s->repetitions = calloc((size_t)repetitions, sizeof(*s->repetitions));
	if (!s->repetitions)
		die("no memory for '%d' repetitions", "give less with '-t'", repetitions);
	matrices_make(&x, s->m, s->n, s->k);
	ceiling_measure(&before);
	for (i = 0; i < repetitions; i++)
		measure_repetition(&s->repetitions[i], s, &x, i, &before);
	validate(&s->wrong, &x);
	matrices_free(&x);
}
