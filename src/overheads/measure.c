#include "measure.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/cpu_clock.h"
#include "../harness/evidence/lost_time.h"
#include "../harness/job/watchdog.h"
#include "../harness/order_statistics.h"
#include "team.h"

/* A block is this long: thousands of readings of the clock, a tenth of a slice of the kernel's. */
static const double SAMPLE_SECONDS = 0.0002;
/* Of a team that cannot run (more threads than CPUs): what there is by then must do. */
static const double LONGEST_SECONDS = 10;
enum { PLAYED_MOST = 3 };

static double seconds_of_block(const struct overhead *o, int with)
{
	const struct construct *const c = o->construct;
	double start;
	word made;

	block_begin();
	start = clock_now();
	made = with ? c->run(o->repetitions) : c->reference(o->repetitions);
	start = clock_now() - start;
	block_end(o->name, made, with ? team_count() : 1);
	return start;
}

/* What disturbs makes a block longer, never shorter: one disturbed block would else be taken for
 * one of enough repetitions. */
static double least_seconds(const struct overhead *o)
{
	double least = 1e9;
	int i;

	for (i = 0; i < 3; i++) {
		const double seconds = seconds_of_block(o, 1);

		least = seconds < least ? seconds : least;
	}
	return least;
}

/* The first run of a construct wakes the team and touches the memory: not timed. */
static void find_repetitions(struct overhead *o)
{
	o->repetitions = o->threads;
	constructs_first_run(1);
	seconds_of_block(o, 1);
	seconds_of_block(o, 0);
	constructs_first_run(0);
	while (least_seconds(o) < SAMPLE_SECONDS && o->repetitions < 100000000)
		o->repetitions *= 2;
	o->shortest = 1e9;
}

/* What the threads have at a moment. */
struct moment {
	long left;        /* how often threads have lost their CPUs */
	double additions; /* per cycle, of the thread that has the fewest */
};

static struct moment moment_now(void)
{
	double additions = 1e9;
	long left = 0;

#pragma omp parallel reduction(+ : left) reduction(min : additions)
	{
		additions = cpu_additions_per_cycle();
		left = lost_time_switches();
	}
	return (struct moment){ left, additions };
}

static void play_pair(struct overhead *o)
{
	const int reference_first = o->played++ % 2;
	const struct moment before = moment_now();
	struct moment after;
	double seconds[2]; /* without, with */

	seconds[!reference_first] = seconds_of_block(o, !reference_first);
	seconds[reference_first] = seconds_of_block(o, reference_first);
	after = moment_now();
	if (after.left != before.left)
		return;
	o->additions[o->count] =
		before.additions < after.additions ? before.additions : after.additions;
	o->with[o->count] = seconds[1] / (double)o->repetitions;
	o->without[o->count] = seconds[0] / (double)o->repetitions;
	o->count++;
	if (seconds[1] < o->shortest)
		o->shortest = seconds[1];
}

static void prepare(struct overhead *o, int pairs)
{
	static const char hint[] = "ask for fewer with '--pairs'";

	o->with = room_for((size_t)pairs, sizeof(*o->with), "pairs", hint);
	o->without = room_for((size_t)pairs, sizeof(*o->without), "pairs", hint);
	o->additions = room_for((size_t)pairs, sizeof(*o->additions), "pairs", hint);
	find_repetitions(o);
}

void overheads_measure(struct overhead *overheads, int count, int pairs)
{
	const double start = clock_now();
	int i, round;

	for (i = 0; i < count; i++)
		prepare(&overheads[i], pairs);
	for (round = 0; round < PLAYED_MOST * pairs; round++) {
		int lacking = 0;

		if (round && (clock_now() - start > LONGEST_SECONDS || watchdog_signalled()))
			return;
		for (i = 0; i < count; i++)
			if (overheads[i].count < pairs) {
				play_pair(&overheads[i]);
				lacking = 1;
			}
		if (!lacking)
			return;
	}
}

double overheads_additions(const struct overhead *overheads, int count)
{
	double *const medians =
		room_for((size_t)count, sizeof(*medians), "medians", "ask for fewer");
	double values[PAIRS_MAX], middle;
	int i, known = 0;

	for (i = 0; i < count; i++) {
		const struct overhead *const o = &overheads[i];

		if (!o->count)
			continue;
		memcpy(values, o->additions, (size_t)o->count * sizeof(*values));
		medians[known++] = median(values, o->count);
	}
	middle = known ? median(medians, known) : 0;
	free(medians);
	return middle;
}
