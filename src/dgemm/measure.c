#include "measure.h"

#include "blas/blas.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/watchdog.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"

/* Seconds of a repetition at all that is attainable: long enough for the kernel to see who worked,
 * short enough for what is attainable to stay. */
static const double LASTS[SHAPES] = { 0.15, 0.1 };
/* A shorter one has too few of the kernel's ticks (judge.c): a host may give twice as much as when
 * the size was chosen. */
static const double LASTS_SHORTEST = 0.09;
/* Of all of them, and to what half of the interval of the share is brought, in points: that of the
 * metric is no narrower (output.c). */
static const double LASTS_LEAST = 2, SHARE_WITHIN = 1;
/* A clock that is a little higher makes no other size, and with it another share. */
static const size_t EVEN_N[SHAPES] = { 512, 1024 };
/* LLC_FACTOR: as of arrays of STREAM.  NODEPERF_N: C (15000 x 15000) += A (15000 x 192) B. */
enum { LLC_FACTOR = 4, NODEPERF_K = 192, NODEPERF_N = 15000, CALLS_MAX = 100000 };
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

double shape_flops(const struct shape *s)
{
	return 2.0 * (double)s->m * (double)s->n * (double)s->k * s->calls;
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

static size_t even(size_t n, enum shape_kind kind)
{
	const size_t step = EVEN_N[kind];

	return n < step ? n : (n + step / 2) / step * step;
}

/* More than the caches, for the square one, which has all three matrices there. */
static size_t square_side(double flops)
{
	const size_t by_time = even(root(flops / 2, 3), SQUARE);
	const size_t by_memory = side_of(MEMORY_SHARE * (double)memory_available(), MATRICES);
	struct llc llc;
	size_t by_llc;

	llc_find(&llc, threads_cpus(), NULL);
	by_llc = side_of(LLC_FACTOR * (double)llc.bytes, MATRICES);
	return smaller(by_time > by_llc ? by_time : by_llc, by_memory);
}

static size_t k192_side(double flops)
{
	const size_t by_time = even(root(flops / 2 / NODEPERF_K, 2), K192);
	const size_t by_memory = side_of(MEMORY_SHARE * (double)memory_available(), 1);

	return smaller(smaller(by_time, NODEPERF_N), by_memory);
}

void measure_size(struct shape *s, enum shape_kind kind, size_t n, double gflops)
{
	const double flops = 1e9 * gflops * LASTS[kind];
	const size_t side = n ? n : kind == SQUARE ? square_side(flops) : k192_side(flops);
	double calls;

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->m = s->n = side;
	s->k = kind == SQUARE ? s->n : NODEPERF_K;
	if (matrices_bytes(s->m, s->n, s->k) > 0.95 * (double)memory_available())
		die("'-n %zu' takes %.0f MiB, but there are %.0f MiB of memory", "give less", n,
		    matrices_bytes(s->m, s->n, s->k) / MIB, (double)memory_available() / MIB);
	s->calls = 1;
	calls = flops / shape_flops(s);
	if (kind == K192 && calls > 1.5)
		s->calls = calls < CALLS_MAX ? (int)calls + 1 : CALLS_MAX;
}

static void time_calls(struct repetition *r, const struct shape *s, struct matrices *x)
{
	struct interference busy;
	double began;

	interference_start(&busy);
	workers_start();
	began = clock_now();
	multiply_repeatedly(x, s->calls);
	began = clock_now() - began;
	workers_stop(&r->workers);
	r->workers.wall = began;
	interference_stop(&busy);
	r->other_cpu_s = interference_other_processes(&busy);
	r->gflops = 1e-9 * shape_flops(s) / began;
}

/* BEFORE becomes what was measured after it. */
static void measure_repetition(struct repetition *r, const struct shape *s, struct matrices *x,
			       struct ceiling *before)
{
	struct ceiling after;
	double worked;

	time_calls(r, s, x);
	ceiling_measure(&after);
	r->ceiling = after;
	r->ceiling.gflops = (before->gflops + after.gflops) / 2;
	r->ceiling.ghz = (before->ghz + after.ghz) / 2;
	if (before->per_cycle < after.per_cycle)
		r->ceiling.per_cycle = before->per_cycle;
	r->moved = after.gflops / before->gflops - 1;
	/* where the kernel does not count, or not finely enough, the wall clock does */
	worked = r->workers.count && r->workers.most < r->workers.wall ? r->workers.most
								       : r->workers.wall;
	r->percent = 100e-9 * shape_flops(s) / worked / r->ceiling.gflops;
	threads_sample();
	*before = after;
}

/* With twice the calls all begins again. */
static int is_lengthened(struct shape *s)
{
	if (s->repetitions[s->count - 1].workers.wall >= LASTS_SHORTEST ||
	    2 * s->calls > CALLS_MAX)
		return 0;
	s->calls *= 2;
	s->count = 0;
	return 1;
}

static int is_known(const struct shape *s, double seconds, double max_seconds)
{
	struct order_statistics share;

	if (seconds >= max_seconds)
		return 1;
	repetitions_share(&share, s);
	return seconds >= LASTS_LEAST && repetitions_clean(s) >= INTERVAL_SAMPLES &&
	       order_statistics_reach(&share) <= SHARE_WITHIN;
}

void measure_shape(struct shape *s, int repetitions, double max_seconds)
{
	const int most = repetitions ? repetitions : REPETITIONS_MAX;
	struct matrices x;
	struct ceiling before;
	double began;

	s->repetitions = room_for((size_t)most, sizeof(*s->repetitions), "repetitions",
				  "give less with '-t'");
	matrices_make(&x, s->m, s->n, s->k);
	multiply_repeatedly(&x, 1); /* the first time the library starts its threads */
	began = clock_now();
	ceiling_measure(&before);
	do {
		measure_repetition(&s->repetitions[s->count], s, &x, &before);
		s->count++;
	} while (s->count < most && !watchdog_signalled() &&
		 (repetitions || is_lengthened(s) ||
		  !is_known(s, clock_now() - began, max_seconds)));
	validate(&s->wrong, &x);
	matrices_free(&x);
}
