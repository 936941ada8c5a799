#include "constructs.h"

#include "../harness/openmp.h"
#include "team.h"

enum { LOOP = 64, LATE = 20, SUMS = 81, LARGEST = 59049 };

static int first_run;

void constructs_first_run(int is_first)
{
	first_run = is_first;
}

/* --- references ------------------------------------------------------------------------------ */

static word ref_delay(long n)
{
	struct worker *const w = worker_here();
	long j;

	for (j = 0; j < n; j++)
		work(w);
	return (word)n;
}

static word ref_loop(long n)
{
	return ref_delay(n * LOOP);
}

static word ref_late(long n)
{
	return ref_delay(n * LATE);
}

/* In memory, as the one that is shared. */
static word ref_add(long n)
{
	static volatile double sum;
	long j;

	worker_here();
	sum = 0;
	for (j = 0; j < n; j++)
		sum += 1;
	sum_expect(sum, (double)n);
	return 0;
}

/* --- regions and loops ----------------------------------------------------------------------- */

static word run_parallel(long n)
{
	long j;

	for (j = 0; j < n; j++) {
#pragma omp parallel
		work(worker_here());
	}
	return (word)n * (word)team_count();
}

static word run_parallel_for(long n)
{
	const int team = team_count();
	long j;
	int i;

	for (j = 0; j < n; j++) {
#pragma omp parallel for schedule(static)
		for (i = 0; i < team; i++)
			work(worker_here());
	}
	return (word)n * (word)team;
}

/* A loop of so many iterations for each thread, by a schedule. */
#define PRAGMA(text) _Pragma(#text)
#define LOOP_BY(name, each, kind)                               \
	static word run_##name(long n)                          \
	{                                                       \
		const int all = each * team_count();            \
                                                                \
		PRAGMA(omp parallel)                            \
		{                                               \
			struct worker *const w = worker_here(); \
			long j;                                 \
			int i;                                  \
                                                                \
			for (j = 0; j < n; j++) {               \
				PRAGMA(omp for schedule(kind))  \
				for (i = 0; i < all; i++)       \
					work(w);                \
			}                                       \
		}                                               \
		return (word)n * (word)all;                     \
	}

#define COMMA ,
LOOP_BY(for, 1, static)
LOOP_BY(for_dynamic, LOOP, dynamic COMMA 1)
LOOP_BY(for_dynamic_8, LOOP, dynamic COMMA 8)
LOOP_BY(for_guided, LOOP, guided COMMA 1)

/* --- threads that wait for each other -------------------------------------------------------- */

static word run_barrier(long n)
{
#pragma omp parallel
	{
		struct worker *const w = worker_here();
		long j;

		for (j = 0; j < n; j++) {
			work(w);
#pragma omp barrier
		}
	}
	return (word)n * (word)team_count();
}

static word run_barrier_late(long n)
{
	const int last = team_count() - 1;

#pragma omp parallel
	{
		struct worker *const w = worker_here();
		const int times = omp_get_thread_num() == last ? LATE : 1;
		long j;

		for (j = 0; j < n; j++) {
			work_long(w, times);
#pragma omp barrier
		}
	}
	return (word)n * (word)(LATE + last);
}

/* One thread at a time; SHARES: how many threads have a part of the delays each. */
#define ONE_BY_ONE(construct, shares)                           \
	static word run_##construct(long n)                     \
	{                                                       \
		const long each = n / shares;                   \
                                                                \
		PRAGMA(omp parallel)                            \
		{                                               \
			struct worker *const w = worker_here(); \
			long j;                                 \
                                                                \
			for (j = 0; j < each; j++) {            \
				PRAGMA(omp construct)           \
				work(w);                        \
			}                                       \
		}                                               \
		return (word)each * (word)shares;               \
	}

ONE_BY_ONE(single, 1)
ONE_BY_ONE(critical, team_count())

static word run_lock(long n)
{
	const long each = n / team_count();
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel
	{
		struct worker *const w = worker_here();
		long j;

		for (j = 0; j < each; j++) {
			omp_set_lock(&lock);
			work(w);
			omp_unset_lock(&lock);
		}
	}
	omp_destroy_lock(&lock);
	return (word)each * (word)team_count();
}

static word run_atomic(long n)
{
	const long each = n / team_count();
	double sum = 0;

#pragma omp parallel
	{
		long j;

		worker_here();
		for (j = 0; j < each; j++) {
#pragma omp atomic
			sum += 1;
		}
	}
	sum_expect(sum, (double)each * team_count());
	return 0;
}

static word run_ordered(long n)
{
	double next = 0, in_order = 0;
	long j;

#pragma omp parallel for ordered schedule(static, 1)
	for (j = 0; j < n; j++) {
#pragma omp ordered
		{
			in_order += next == (double)j;
			next += 1;
			work(worker_here());
		}
	}
	sum_expect(in_order, (double)n);
	return (word)n;
}

/* --- sums ------------------------------------------------------------------------------------ */

static word ref_reduction(long n)
{
	volatile double sum = 0;
	long j;

	for (j = 0; j < n; j++) {
		work(worker_here());
		sum += 1;
	}
	(void)sum;
	return (word)n;
}

static word run_reduction(long n)
{
	double sum = 0;
	long j;

	for (j = 0; j < n; j++) {
#pragma omp parallel reduction(+ : sum)
		{
			work(worker_here());
			sum += 1;
		}
	}
	sum_expect(sum, (double)n * team_count());
	return (word)n * (word)team_count();
}

static void (*volatile count_up)(double *sums);

static NOINLINE void add_to_each(double *sums)
{
	int i;

	for (i = 0; i < SUMS; i++)
		sums[i] += i;
}

static word ref_reduction_array(long n)
{
	double sums[SUMS] = { 0 };
	long j;

	count_up = add_to_each;
	for (j = 0; j < n; j++) {
		work(worker_here());
		count_up(sums);
	}
	return (word)n;
}

#if _OPENMP >= 201511
static word run_reduction_array(long n)
{
	double sums[SUMS] = { 0 };
	long j;
	int i;

	count_up = add_to_each;
	for (j = 0; j < n; j++) {
#pragma omp parallel reduction(+ : sums)
		{
			work(worker_here());
			count_up(sums);
		}
	}
	for (i = 0; i < SUMS; i++)
		sum_expect(sums[i], (double)n * team_count() * i);
	return (word)n * (word)team_count();
}
#endif

/* --- copies ---------------------------------------------------------------------------------- */

/* Through a pointer that no compiler follows: else it removes copies without a reader. */
static void (*volatile use)(double *copy, long count);

static void note_copy(struct worker *w, const double *copy)
{
	w->copy = copy;
}

/* What it writes is there after the delay. */
static NOINLINE void use_own(double *copy, long count)
{
	struct worker *const w = worker_here();
	const double mark = (double)omp_get_thread_num();

	copy[0] = copy[count - 1] = mark;
	work(w);
	w->wrong += copy[0] != mark || copy[count - 1] != mark;
	note_copy(w, copy);
}

static void look(struct worker *w, const double *copy, long count)
{
	const double mark = (double)block_now();

	w->wrong += copy[0] != mark || copy[count / 2] != mark || copy[count - 1] != mark;
	note_copy(w, copy);
}

static NOINLINE void use_copied(double *copy, long count)
{
	struct worker *const w = worker_here();

	look(w, copy, count);
	work(w);
}

static NOINLINE void look_at_copied(double *copy, long count)
{
	look(worker_here(), copy, count);
}

/* What is copied: this block's number; elsewhere what the first run wrote. */
static void mark_source(double *source, long count)
{
	long i;

	for (i = 0; first_run && i < count; i++)
		source[i] = 1;
	source[0] = source[count / 2] = source[count - 1] = (double)block_now();
}

static double reference_array[LARGEST];

static word ref_own(long n)
{
	long j;

	use = use_own;
	for (j = 0; j < n; j++)
		use(reference_array, LARGEST);
	return (word)n;
}

static word ref_copied(long n)
{
	long j;

	use = use_copied;
	mark_source(reference_array, LARGEST);
	for (j = 0; j < n; j++)
		use(reference_array, LARGEST);
	return (word)n;
}

static void single_copied(double *copy, long count)
{
	mark_source(copy, count);
	work(worker_here());
}

static word ref_handed(long n)
{
	long j;

	use = look_at_copied;
	for (j = 0; j < n; j++) {
		single_copied(reference_array, LARGEST);
		use(reference_array, LARGEST);
	}
	return (word)n;
}

#define COPIES(count)                                             \
	static word run_private_##count(long n)                   \
	{                                                         \
		double a[count];                                  \
		long j;                                           \
                                                                  \
		use = use_own;                                    \
		for (j = 0; j < n; j++) {                         \
			PRAGMA(omp parallel private(a))           \
			use(a, count);                            \
		}                                                 \
		return (word)n * (word)team_count();              \
	}                                                         \
                                                                  \
	static word run_firstprivate_##count(long n)              \
	{                                                         \
		static double source[count];                      \
		long j;                                           \
                                                                  \
		use = use_copied;                                 \
		mark_source(source, count);                       \
		for (j = 0; j < n; j++) {                         \
			PRAGMA(omp parallel firstprivate(source)) \
			use(source, count);                       \
		}                                                 \
		return (word)n * (word)team_count();              \
	}                                                         \
                                                                  \
	static word run_copyprivate_##count(long n)               \
	{                                                         \
		double a[count];                                  \
                                                                  \
		use = look_at_copied;                             \
		PRAGMA(omp parallel private(a))                   \
		{                                                 \
			long j;                                   \
                                                                  \
			if (first_run)                            \
				mark_source(a, count);            \
			for (j = 0; j < n; j++) {                 \
				PRAGMA(omp single copyprivate(a)) \
				single_copied(a, count);          \
				use(a, count);                    \
			}                                         \
		}                                                 \
		return (word)n;                                   \
	}

#define COPYIN(count)                                                    \
	static double threads_own_##count[count];                        \
	PRAGMA(omp threadprivate(threads_own_##count))                   \
                                                                         \
	static word run_copyin_##count(long n)                           \
	{                                                                \
		long j;                                                  \
                                                                         \
		use = use_copied;                                        \
		mark_source(threads_own_##count, count);                 \
		for (j = 0; j < n; j++) {                                \
			PRAGMA(omp parallel copyin(threads_own_##count)) \
			use(threads_own_##count, count);                 \
		}                                                        \
		return (word)n * (word)team_count();                     \
	}

/* 3^k doubles, as EPCC has them, every second k */
COPIES(1)
COPIES(9)
COPIES(81)
COPIES(729)
COPIES(6561)
COPIES(59049)
COPYIN(1)
COPYIN(9)
COPYIN(81)
COPYIN(729)
COPYIN(6561)

/* In nine parts: gcc -mcmodel=medium cannot have a threadprivate array above 64 KiB. */
static double part_0[6561], part_1[6561], part_2[6561], part_3[6561], part_4[6561], part_5[6561],
	part_6[6561], part_7[6561], part_8[6561];
#pragma omp threadprivate(part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7, part_8)

/* This thread's. */
static void mark_parts(void)
{
	double *const parts[] = { part_0, part_1, part_2, part_3, part_4,
				  part_5, part_6, part_7, part_8 };
	int i;

	for (i = 0; i < 9; i++)
		mark_source(parts[i], 6561);
}

static void look_at_parts(void)
{
	double *const parts[] = { part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7 };
	int i;

	for (i = 0; i < 8; i++)
		look(worker_here(), parts[i], 6561);
}

static word run_copyin_59049(long n)
{
	long j;

	use = use_copied;
	mark_parts();
	for (j = 0; j < n; j++) {
#pragma omp parallel copyin(part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7, part_8)
		{
			look_at_parts();
			use(part_8, 6561);
		}
	}
	return (word)n * (word)team_count();
}

/* --- tasks ----------------------------------------------------------------------------------- */

static word run_task(long n)
{
#pragma omp parallel
	{
		long j;

		worker_here();
		for (j = 0; j < n; j++) {
#pragma omp task
			work(worker_here());
		}
	}
	return (word)n * (word)team_count();
}

#if _OPENMP >= 201511
static word run_taskloop(long n)
{
	const unsigned long team = (unsigned long)team_count();

#pragma omp parallel
	{
		worker_here();
#pragma omp single
		{
			long j;
			unsigned long i;

			for (j = 0; j < n; j++) {
#pragma omp taskloop grainsize(1)
				for (i = 0; i < team; i++)
					work(worker_here());
			}
		}
	}
	return (word)n * (word)team;
}
#endif

#define OF_SIZES(kind, reference)                                                          \
	{ #kind, 8, run_##kind##_1, reference }, { #kind, 72, run_##kind##_9, reference }, \
		{ #kind, 648, run_##kind##_81, reference },                                \
		{ #kind, 5832, run_##kind##_729, reference },                              \
		{ #kind, 52488, run_##kind##_6561, reference },                            \
	{                                                                                  \
		#kind, 472392, run_##kind##_59049, reference                               \
	}

const struct construct constructs[] = {
	{ "parallel", 0, run_parallel, ref_delay },
	{ "for", 0, run_for, ref_delay },
	{ "parallel_for", 0, run_parallel_for, ref_delay },
	{ "for_dynamic", 0, run_for_dynamic, ref_loop },
	{ "for_dynamic_8", 0, run_for_dynamic_8, ref_loop },
	{ "for_guided", 0, run_for_guided, ref_loop },
	{ "barrier", 0, run_barrier, ref_delay },
	{ "barrier_late", 0, run_barrier_late, ref_late },
	{ "single", 0, run_single, ref_delay },
	{ "critical", 0, run_critical, ref_delay },
	{ "lock", 0, run_lock, ref_delay },
	{ "atomic", 0, run_atomic, ref_add },
	{ "ordered", 0, run_ordered, ref_delay },
	{ "reduction", 0, run_reduction, ref_reduction },
#if _OPENMP >= 201511 /* 4.5 */
	{ "reduction_array", SUMS * sizeof(double), run_reduction_array, ref_reduction_array },
#endif
	{ "task", 0, run_task, ref_delay },
#if _OPENMP >= 201511
	{ "taskloop", 0, run_taskloop, ref_delay },
#endif
	OF_SIZES(private, ref_own),
	OF_SIZES(firstprivate, ref_copied),
	OF_SIZES(copyprivate, ref_handed),
	OF_SIZES(copyin, ref_copied),
};
const int constructs_count = (int)(sizeof(constructs) / sizeof(constructs[0]));
