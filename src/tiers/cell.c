#include "cell.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/pinning.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/memory_policy.h"
#include "../harness/memory/chase.h"
#include "../harness/memory/map.h"
#include "../harness/openmp.h"
#include "../harness/rate.h"
#include "../harness/sysfile.h"

struct cell_part {
	double *a, *b, *c;
	double sum;
	int refusal; /* errno with which the kernel refused to bind its memory */
	char apart[LINES_APART];
};

static struct {
	struct cell_part *parts;
	int threads;
	size_t elements; /* of one array of one thread */
} cell;

static void cell_place_threads(const struct cpuset *cpus)
{
	int cores[CPUS_MAX];

	threads_team(topology_one_per_core(cores, cpus));
	cell.threads = threads_count(); /* OMP_THREAD_LIMIT leaves fewer */
	pinning_judge_count();
#pragma omp parallel
	cpuset_pin(cores[omp_get_thread_num()]);
	threads_look();
}

static double *cell_array(void)
{
	return (double *)(void *)chase_memory(cell.elements * sizeof(double), CHASE_2M);
}

static void cell_take_memory(int memory)
{
	int t;

	cell.parts = room_for((size_t)cell.threads, sizeof(*cell.parts), "threads", "use fewer");
#pragma omp parallel
	{
		struct cell_part *const mine = &cell.parts[omp_get_thread_num()];
		size_t i;

		mine->refusal = memory_policy_bind(memory);
		mine->a = cell_array();
		mine->b = cell_array();
		mine->c = cell_array();
		for (i = 0; i < cell.elements; i++) {
			mine->b[i] = 1;
			mine->c[i] = (double)(i % 1024);
		}
	}
	for (t = 0; t < cell.threads; t++)
		if (cell.parts[t].refusal)
			placement_refused(memory, cell.parts[t].refusal);
}

static void cell_give_memory_back(void)
{
#pragma omp parallel
	{
		struct cell_part *const mine = &cell.parts[omp_get_thread_num()];
		const size_t bytes = cell.elements * sizeof(double);

		munmap(mine->a, bytes);
		munmap(mine->b, bytes);
		munmap(mine->c, bytes);
		memory_policy_bind(-1);
	}
	free(cell.parts);
}

static void cell_sample(struct placement *placement, const struct chase *chase)
{
	const size_t bytes = cell.elements * sizeof(double);
	int t;

	placement_begin(placement);
	placement_sample(placement, chase->memory, chase->lines * chase->line,
			 &threads_seen(0)->affinity);
	for (t = 0; t < cell.threads; t++) {
		const struct cell_part *const p = &cell.parts[t];

		placement_sample(placement, p->a, bytes, &threads_seen(t)->affinity);
		placement_sample(placement, p->b, bytes, &threads_seen(t)->affinity);
		placement_sample(placement, p->c, bytes, &threads_seen(t)->affinity);
	}
}

/* Four sums, so that an addition keeps no load waiting for long. */
static NOINLINE double cell_read(const double *v, size_t n)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		s0 += v[i];
		s1 += v[i + 1];
		s2 += v[i + 2];
		s3 += v[i + 3];
	}
	return s0 + s1 + s2 + s3;
}

static NOINLINE void cell_triad(double *__restrict a, const double *__restrict b,
				const double *__restrict c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = b[i] + 3.0 * c[i];
}

/* One pass of all threads; seconds. */
static double cell_pass(int which)
{
	double began = 1e300, ended = 0;

#pragma omp parallel reduction(min : began) reduction(max : ended)
	{
		struct cell_part *const mine = &cell.parts[omp_get_thread_num()];

#pragma omp barrier
		began = clock_now();
		if (which == CELL_TRIAD) {
			cell_triad(mine->a, mine->b, mine->c, cell.elements);
		} else {
			mine->sum = cell_read(mine->b, cell.elements);
			mine->sum += cell_read(mine->c, cell.elements);
		}
		ended = clock_now();
	}
	threads_sample();
	return ended - began;
}

/* GB/s of each pass, and the share of it that a thread lost. */
static void cell_rate(struct visit *visit, int which)
{
	const double bytes = (which == CELL_TRIAD ? 3.0 : 2.0) * sizeof(double) *
			     (double)cell.elements * (double)cell.threads;
	int pass;

	cell_pass(which); /* not counted */
	for (pass = 0; pass < CELL_PASSES; pass++) {
		const double seconds = cell_pass(which);

		visit->gbs[which][pass] = 1e-9 * bytes / seconds;
		visit->lost[which][pass] = threads_lost_seconds() / seconds;
	}
}

/* Sums of whole numbers below 2^53 are exact in any order. */
static int cell_is_right(void)
{
	const size_t n = cell.elements;
	const double whole = (double)(n / 1024) * (1023.0 * 1024 / 2);
	const double rest = (double)(n % 1024) * ((double)(n % 1024) - 1) / 2;
	int wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	{
		const struct cell_part *const mine = &cell.parts[omp_get_thread_num()];
		size_t i;

		wrong += mine->sum != (double)n + whole + rest;
		for (i = 0; i < n; i++)
			wrong += mine->a[i] != 1 + 3.0 * (double)(i % 1024);
	}
	return !wrong;
}

static const char *const migrated_counts[] = { "pgmigrate_success",   "numa_pages_migrated",
					       "pgdemote_kswapd",     "pgdemote_direct",
					       "pgdemote_khugepaged", "pgdemote_proactive" };

/* Of the whole node: pgmigrate_success counts every migration (NUMA balancing, compaction, DAMON,
 * migratepages), the others parts of it that some kernels count alone: the largest of them. */
static unsigned long long migrated_pages(void)
{
	size_t most = 0, count, i;

	for (i = 0; i < sizeof(migrated_counts) / sizeof(*migrated_counts); i++)
		if ((count = sysfile_number("/proc/vmstat", migrated_counts[i])) > most)
			most = count;
	return most;
}

/* The lap that lost least counts, and of such the fastest. */
static void cell_latency(struct visit *visit, struct chase *chase, int laps)
{
	int lap;

	chase_walk(chase, chase->lines); /* not counted */
	threads_sample();
	for (lap = 0; lap < laps; lap++) {
		const double began = clock_now();
		double seconds, lost;
		int is_better;

		chase_walk(chase, chase->lines);
		seconds = clock_now() - began;
		threads_sample();
		lost = threads_lost_seconds() / seconds;
		is_better = rate_counts(lost) != rate_counts(visit->ns_lost)
				    ? rate_counts(lost)
				    : 1e9 * seconds < visit->ns * (double)chase->lines;
		if (lap == 0 || is_better) {
			visit->ns = 1e9 * seconds / (double)chase->lines;
			visit->ns_lost = lost;
		}
	}
}

void cell_visit(struct visit *visit, const struct cpuset *cpus, int memory, size_t array_bytes,
		size_t chain_bytes, int laps)
{
	struct chase chase;

	cell_place_threads(cpus);
	cell.elements = array_bytes / sizeof(double) / (size_t)cell.threads / 1024 * 1024;
	cell_take_memory(memory);
	chase_build(&chase, chase_memory(chain_bytes, CHASE_2M), chain_bytes, 1);
	cell_sample(&visit->before, &chase);
	visit->migrated = migrated_pages();
	cell_latency(visit, &chase, laps);
	cell_rate(visit, CELL_READ);
	cell_rate(visit, CELL_TRIAD);
	visit->migrated = migrated_pages() - visit->migrated;
	cell_sample(&visit->after, &chase);
	visit->is_right = cell_is_right() && chase_is_right(&chase);
	munmap(chase.memory, chain_bytes);
	cell_give_memory_back();
}
