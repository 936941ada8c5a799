#include "measure.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/evidence/cpu_clock.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/watchdog.h"
#include "../harness/memory/chase.h"
#include "../harness/memory/placement.h"
#include "../harness/openmp.h"
#include "../harness/order_statistics.h"
#include "../harness/plan.h"
#include "../harness/rate.h"
#include "../harness/verdict.h"
#include "kernels.h"

static const double SHORT_GROUP = 2e-4, LONG_GROUP = 1e-2, LONG_SECONDS = 0.5, ALL_SECONDS = 0.1,
		    LONG_PASS = 2e-3, SETTLED = 0.03, WORK_OF_ANY = 4 << 20, WORK_OF_RATE = 0.03;
enum { GROUPS_MOST = 8, PASSES_MOST = 1 << 20 };

static const char *const names[POINTS] = { "latency_2m", "latency_4k", "read_one",
					   "triad_one",  "read_all",   "triad_all" };

/* What a thread has, two lines apart from the next one's. */
struct own {
	char *memory;
	size_t bytes;
	uint64_t got;
	char apart[LINES_APART];
};

static struct own *own;
static char *small_pages; /* of the first thread's chase */
static struct chase chase;
static struct lost_time first_thread;
static uint64_t random_state = 88172645463325252;

/* xorshift: G. Marsaglia, Journal of Statistical Software 8 (14), 2003. */
static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static size_t larger(size_t x, size_t y)
{
	return x > y ? x : y;
}

void measuring_memory(struct measuring *m)
{
	const size_t all = larger(m->ladder->most[READ_ALL], m->ladder->most[TRIAD_ALL]);
	const size_t one =
		larger(larger(m->ladder->most[READ_ONE], m->ladder->most[LATENCY_2M]), all);

	own = room_for((size_t)threads_count(), sizeof(*own), "threads", "set fewer threads");
#pragma omp parallel
	{
		struct own *const mine = &own[omp_get_thread_num()];

		mine->bytes = kernel_bytes_needed(omp_get_thread_num() ? all : one);
		mine->memory = chase_memory(mine->bytes, CHASE_2M);
	}
	m->has[CHASE_2M] = chase_memory_has(own[0].memory, own[0].bytes, CHASE_2M);
	if (m->ladder->most[LATENCY_4K]) {
		small_pages = chase_memory(m->ladder->most[LATENCY_4K], CHASE_4K);
		m->has[CHASE_4K] =
			chase_memory_has(small_pages, m->ladder->most[LATENCY_4K], CHASE_4K);
	}
	lost_time_start(&first_thread);
	random_state ^= (uint64_t)(1e9 * clock_now());
}

void measuring_place(struct placement *placement, const char *when)
{
	int t;

	placement_begin(placement);
	for (t = 0; t < threads_count(); t++)
		placement_sample(placement, own[t].memory, own[t].bytes,
				 &threads_seen(t)->affinity);
	placement_judge(placement, when);
}

static enum kernel kernel_of(enum points points)
{
	return points == READ_ONE || points == READ_ALL ? KERNEL_READ : KERNEL_TRIAD;
}

static int is_chase(enum points points)
{
	return points == LATENCY_2M || points == LATENCY_4K;
}

static int is_of_all(enum points points)
{
	return points == READ_ALL || points == TRIAD_ALL;
}

static void prepare(enum points points, size_t bytes)
{
	if (is_chase(points)) {
		chase_build(&chase, points == LATENCY_4K ? small_pages : own[0].memory, bytes,
			    (size_t)random_number());
	} else if (is_of_all(points)) {
#pragma omp parallel
		kernel_fill(kernel_of(points), own[omp_get_thread_num()].memory, bytes);
	} else {
		kernel_fill(kernel_of(points), own[0].memory, bytes);
	}
}

/* All threads begin together; the latest end counts. */
static double seconds_of_all(enum kernel kernel, size_t bytes, size_t passes)
{
	double began = 1e300, ended = 0;

#pragma omp parallel reduction(min : began) reduction(max : ended)
	{
		struct own *const mine = &own[omp_get_thread_num()];

#pragma omp barrier
		began = clock_now();
		mine->got = kernel_run(kernel, mine->memory, bytes, passes);
		ended = clock_now();
	}
	return ended - began;
}

static double seconds_of_one(enum points points, size_t bytes, size_t passes)
{
	const double began = clock_now();

	if (is_chase(points))
		chase_walk(&chase, passes * chase.lines);
	else
		own[0].got = kernel_run(kernel_of(points), own[0].memory, bytes, passes);
	return clock_now() - began;
}

/* Of a chase and of a read each group is checked, of Triad what its last one left. */
static void find_wrong(enum points points, size_t bytes, size_t passes)
{
	int wrong = 0;

	if (is_chase(points)) {
		if (!chase_is_right(&chase))
			verdict_invalid(NOT_VALIDATED,
					"a chase of %zu lines ended at a wrong line", chase.lines);
		return;
	}
	if (!is_of_all(points)) {
		wrong = !kernel_is_right(kernel_of(points), own[0].memory, bytes, passes,
					 own[0].got);
	} else {
#pragma omp parallel reduction(+ : wrong)
		{
			const struct own *const mine = &own[omp_get_thread_num()];

			wrong += !kernel_is_right(kernel_of(points), mine->memory, bytes, passes,
						  mine->got);
		}
	}
	if (wrong)
		verdict_invalid(NOT_VALIDATED,
				"%s of %zu KiB: %d threads read or wrote wrong values",
				names[points], bytes >> 10, wrong);
}

/* Seconds of so many passes, below 0 where threads lost too much time for it to count.  The pass
 * before it brings back what the pause between two groups took out of the caches. */
static double seconds_of_group(enum points points, size_t bytes, size_t passes)
{
	double seconds, lost;

	if (is_of_all(points)) {
		if (passes > 1)
			seconds_of_all(kernel_of(points), bytes, 1);
		threads_sample();
		seconds = seconds_of_all(kernel_of(points), bytes, passes);
		threads_sample();
		return rate_counts_alone(threads_lost_seconds() / seconds) ? seconds : -seconds;
	}
	lost_time_note(&first_thread);
	if (passes > 1)
		seconds_of_one(points, bytes, 1);
	seconds = seconds_of_one(points, bytes, passes);
	lost_time_note(&first_thread);
	lost = first_thread.lost;
	return lost > 0.5 * seconds && seconds - lost < LONG_PASS ? -seconds : seconds - lost;
}

static double group_seconds(const struct measuring *m, enum points points)
{
	return m->is_quick || is_chase(points) || is_of_all(points) ? SHORT_GROUP : LONG_GROUP;
}

/* Seconds of one pass, 0 where no group of GROUP seconds counts; see measure.h. */
static double settle(enum points points, size_t bytes, double group, int *is_settled)
{
	const double began = clock_now(), limit = is_of_all(points) ? ALL_SECONDS : LONG_SECONDS;
	double seconds[GROUPS_MOST], last = 0;
	size_t passes = 1, ran = 0;
	int count = 0;

	*is_settled = 0;
	while (count < GROUPS_MOST && (count < 2 || clock_now() - began < limit)) {
		double now = seconds_of_group(points, bytes, passes);

		ran = passes;
		if (kernel_of(points) == KERNEL_READ || is_chase(points))
			find_wrong(points, bytes, passes);
		if (now < 0) {
			if (clock_now() - began > limit)
				break;
			continue;
		}
		if (now < (passes == 1 ? LONG_PASS : group) && passes < PASSES_MOST) {
			passes *= 2;
			continue;
		}
		now /= (double)passes;
		*is_settled = count && now < last * (1 + SETTLED) && last < now * (1 + SETTLED);
		seconds[count++] = last = now;
		if (*is_settled)
			break;
	}
	if (!is_chase(points) && kernel_of(points) == KERNEL_TRIAD)
		find_wrong(points, bytes, ran);
	if (*is_settled)
		return (seconds[count - 1] + seconds[count - 2]) / 2;
	return count ? median(seconds, count) : 0;
}

static void visit(struct measuring *m, enum points points, int rung)
{
	const size_t bytes = m->ladder->bytes[rung];
	double *const value = &m->ladder->of[points][m->ladder->rounds][rung];
	const int threads = is_of_all(points) ? threads_count() : 1;
	double seconds;
	int is_settled;

	prepare(points, bytes);
	seconds = settle(points, bytes, group_seconds(m, points), &is_settled);
	m->visits++;
	m->unsettled += !is_settled;
	m->lost += !is_positive(seconds);
	if (!is_positive(seconds))
		return;
	*value = is_chase(points)
			 ? 1e9 * seconds / (double)chase.lines
			 : 1e-9 * threads *
				   (double)kernel_bytes_counted(kernel_of(points), bytes) /
				   seconds;
}

/* Pages of 4 KiB are looked at once per octave: no size is read off them. */
static int is_visited(const struct measuring *m, int rung, int points)
{
	const size_t bytes = m->ladder->bytes[rung];

	return bytes <= m->ladder->most[points] &&
	       (points != LATENCY_4K || (bytes & (bytes - 1)) == 0);
}

/* How long a size takes, compared with others: a chase by far the longest. */
static double work_of(const struct measuring *m, int rung)
{
	double work = WORK_OF_ANY;
	int points;

	for (points = 0; points < POINTS; points++)
		if (is_visited(m, rung, points))
			work += (double)m->ladder->bytes[rung] *
				(is_chase(points) ? 1 : WORK_OF_RATE);
	return work;
}

int measuring_round(struct measuring *m, double until)
{
	static double clocks[ROUNDS_MAX];
	const int count = m->ladder->count, round = m->ladder->rounds,
		  rounds = round < ROUNDS_LEAST ? ROUNDS_LEAST : round + 1;
	double sorted[ROUNDS_MAX], work = 0, done;
	int order[RUNGS_MAX], i, points;

	for (i = 0; i < count; i++) {
		const int j = (int)(random_number() % (uint64_t)(i + 1));

		order[i] = order[j];
		order[j] = i;
		work += work_of(m, i);
	}
	done = round * work;
	for (i = 0; i < count && clock_now() < until && !watchdog_signalled(); i++) {
		for (points = 0; points < POINTS; points++)
			if (is_visited(m, order[i], points))
				visit(m, (enum points)points, order[i]);
		done += work_of(m, order[i]);
		plan_done_part("sizes", round * count + i + 1, rounds * count,
			       done / (rounds * work), until);
	}
	if (i < count && m->ladder->rounds)
		return 0;
	clocks[m->ladder->rounds++] = cpu_clock_ghz();
	memcpy(sorted, clocks, sizeof(sorted));
	m->clock_ghz = median(sorted, m->ladder->rounds);
	return i == count;
}
