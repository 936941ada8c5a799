#include "measure.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/evidence/cpu_clock.h"
#include "../harness/evidence/pinning.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/watchdog.h"
#include "../harness/openmp.h"
#include "../harness/order_statistics.h"
#include "../harness/rate.h"
#include "forces.h"
#include "offload.h"

/* Additions are counted so often in a row: a thread that slept comes later. */
enum { TRIES = 4, COUNTS = 4 };

/* What a thread did in a run, on lines of its own. */
struct share {
	long groups;
	char unused[LINES_APART - sizeof(long)];
};

static void take_share(const struct bodies *b, struct share *shares, int thread, int threads)
{
	const long groups = b->count / GROUP;
	const long first = groups * thread / threads, last = groups * (thread + 1) / threads;

	bodies_forces(b, first, last);
	shares[thread].groups = last - first;
}

/* Seconds; how many threads had a share. */
static double run_on_host(const struct bodies *b, int threads, int *worked)
{
	struct share *const shares = room_for((size_t)threads, sizeof(*shares), "threads",
					      "ask for fewer with '--threads'");
	double start;
	int t;

	start = clock_now();
#pragma omp parallel
	take_share(b, shares, omp_get_thread_num(), omp_get_num_threads());
	start = clock_now() - start;
	*worked = 0;
	for (t = 0; t < threads; t++)
		*worked += shares[t].groups > 0;
	free(shares);
	return start;
}

static double run_crew(struct crew *crew, const struct bodies *b)
{
	int worked = crew->threads;
	double start = clock_now();

	if (crew->on_device) {
		crew->not_offloaded += !offload_forces(b, crew->threads);
		start = clock_now() - start;
	} else {
		start = run_on_host(b, crew->threads, &worked);
	}
	if (!crew->runs || worked < crew->worked)
		crew->worked = worked;
	crew->runs++;
	return start;
}

/* Per cycle, of the thread of the team that has the fewest, all counting at once. */
static double additions_now(const struct crew *crew)
{
	double additions = 1e9;

	if (crew->on_device)
		return 0;
#pragma omp parallel reduction(min : additions)
	{
		int i;

		for (i = 0; i < COUNTS; i++) {
			const double counted = cpu_additions_per_cycle();

			additions = counted < additions ? counted : additions;
		}
	}
	return additions;
}

static double measure_run(struct crew *crew, const struct bodies *b, double *additions)
{
	double seconds = 0, before;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = additions_now(crew);
		threads_sample();
		seconds = run_crew(crew, b);
		threads_sample();
		*additions = additions_now(crew);
		*additions = before < *additions ? before : *additions;
		if (rate_counts_alone(threads_lost_seconds() / seconds))
			return seconds;
	}
	crew->spoilt++;
	return seconds;
}

static void keep_forces(const struct bodies *b, void *kept[3])
{
	const size_t count = (size_t)b->count, element = bodies_element(b);
	int axis;

	for (axis = 0; axis < 3; axis++) {
		kept[axis] = room_for(count, element, "forces", "ask for fewer with '--bodies'");
		memcpy(kept[axis], b->a[axis], count * element);
	}
}

/* To the bit on the host; a device may fuse other operations. */
static void compare_forces(struct crew *crew, const struct bodies *b, void *const kept[3])
{
	const size_t element = bodies_element(b);
	const double off = crew->on_device ? bodies_difference(b, kept) : 0;
	int axis;
	long i;

	crew->difference = off > crew->difference ? off : crew->difference;
	for (axis = 0; axis < 3 && !crew->on_device; axis++) {
		const char *const now = b->a[axis];

		if (memcmp(now, kept[axis], (size_t)b->count * element) == 0)
			continue;
		for (i = 0; i < b->count; i++) {
			const size_t at = (size_t)i * element;
			const unsigned long long found = bits_of(now + at, element);
			const unsigned long long expected =
				bits_of((const char *)kept[axis] + at, element);

			if (found == expected || crew->wrong++)
				continue;
			crew->wrong_body = i;
			crew->found = found;
			crew->expected = expected;
		}
	}
}

static void start_team(const struct crew *crew)
{
	if (!crew->on_device)
		threads_team(crew->threads);
}

static void play_round(struct crew *crews, int count, struct bodies *b, int round,
		       void *const kept[3])
{
	int i;

	for (i = 0; i < count; i++) {
		struct crew *const crew = &crews[round % 2 ? count - 1 - i : i];

		start_team(crew);
		crew->seconds[round] = measure_run(crew, b, &crew->additions[round]);
		if (!crew->on_device) {
			pinning_judge();
			crew->shared_core += threads_shared_core();
		}
		compare_forces(crew, b, kept);
	}
}

int crews_measure(struct crew *crews, int count, struct bodies *b, int rounds)
{
	void *kept[3] = { NULL, NULL, NULL };
	int i, round;

	for (i = 0; i < count; i++) { /* not timed: threads begin, memory is touched */
		start_team(&crews[i]);
		run_crew(&crews[i], b);
		if (i == 0)
			keep_forces(b, kept);
	}
	for (round = 0; round < rounds; round++) {
		if (round >= INTERVAL_SAMPLES && watchdog_signalled())
			break;
		play_round(crews, count, b, round, kept);
	}
	for (i = 0; i < 3; i++)
		free(kept[i]);
	return round;
}

long bodies_for(enum precision precision, double seconds, int threads)
{
	const long least = 2L * GROUP * threads, piece = (long)GROUP * threads;
	struct bodies b;
	double once = 1e9, scale;
	int i, worked;
	long count = 1024;

	threads_team(1);
	bodies_start(&b, precision, count);
	for (i = 0; i < 5; i++) {
		const double took = run_on_host(&b, 1, &worked);

		once = took < once ? took : once;
	}
	bodies_end(&b);
	for (scale = 1; scale * scale * once < seconds && scale < 256; scale *= 1.05)
		;
	count = (long)(scale * (double)count);
	count = (count + piece - 1) / piece * piece;
	return count < least ? least : count;
}

double offload_fixed_seconds(enum precision precision, long most)
{
	double x[4], y[4], mean_x = 0, mean_y = 0, above = 0, below = 0;
	int i, k;

	for (i = 0; i < 4; i++) {
		const long count = most * (i + 1) / 4 / GROUP * GROUP;
		struct bodies b;

		bodies_start(&b, precision, count);
		y[i] = 1e9;
		for (k = 0; k < 5; k++) {
			const double start = clock_now();
			double took;

			offload_forces(&b, 0);
			took = clock_now() - start;
			y[i] = took < y[i] ? took : y[i];
		}
		bodies_end(&b);
		x[i] = (double)count * (double)count;
		mean_x += x[i] / 4;
		mean_y += y[i] / 4;
	}
	for (i = 0; i < 4; i++) {
		above += (x[i] - mean_x) * (y[i] - mean_y);
		below += (x[i] - mean_x) * (x[i] - mean_x);
	}
	return mean_y - above / below * mean_x;
}
