#include "measure.h"

#include "../harness/clock.h"
#include "../harness/deviation.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/ranks.h"
#include "../harness/job/watchdog.h"
#include "../harness/metrics.h"
#include "../harness/options.h"
#include "../harness/room.h"
#include "../harness/verdict.h"
#include "kernels/expect.h"
#include "kernels/start_values.h"

#include <signal.h>

/* CLEAN_LEAST: undisturbed repetitions of a kernel; one alone may be an accident.  PARTS: of a
 * run, for its interval; PART_REPETITIONS: in each, where there are enough for three. */
enum {
	CAPACITY_FIRST = 64,
	BLOCK_REPETITIONS = 3,
	BLOCKS_ALIKE = 3,
	CLEAN_LEAST = 3,
	PARTS = STUDENT_FREEDOM + 1,
	PARTS_LEAST = 3,
	PART_REPETITIONS = 3
};

static const double BLOCK_LASTS = 0.25, PAIR_EVERY = 1, SETTLED_LASTS = 1, SETTLED_WITHIN = 0.02;
static const double DISTURBED_SHARE = 0.01, WAKE_SECONDS = 50e-6, STEAL_EVERY = 0.02;
/* See docs/repeatability.md. */
static const double INTERVAL_LEAST = 0.02, INTERVAL_FACTOR = 1.3, INTERVAL_WIDE = 0.05,
		    INTERVAL_SAYS_NOTHING = 0.5;

/* The three best blocks of a kernel, the shortest time first. */
struct best_blocks {
	double of[BLOCKS_ALIKE];
};

struct progress {
	double start, block_start, stolen;
	int block_first; /* the repetition that the block begins with */
	int looked_for;  /* the run of a kernel, all counted on, up to which steal was read */
	double looked_at;
	double paired_at; /* when the nearest cores were looked at */
	struct best_blocks best[KERNELS];
};

/* The kernel counts stolen time in ticks; reading it takes time on a node with many CPUs, so no
 * more often than a tick lasts.  DONE: how many runs of kernels there are by now. */
static void note_steal(struct measurement *m, struct progress *p, int done)
{
	const double now = clock_now();
	double stolen;
	int n;

	if (now - p->looked_at < STEAL_EVERY)
		return;
	stolen = interference_stolen();
	for (n = p->looked_for; n < done && stolen > p->stolen; n++)
		m->kernel[n % KERNELS].lost[n / KERNELS] += stolen - p->stolen;
	p->stolen = stolen;
	p->looked_for = done;
	p->looked_at = now;
}

/* Returns how many kernels were timed. */
static int iterate(struct measurement *m, struct progress *p, const struct kernel_choice *choice,
		   const struct arrays *arrays, int i)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		struct timing *const t = &m->kernel[k];
		double start;

		if (!ranks_barrier(k ? m->kernel[k - 1].times[i] : 0) ||
		    (!ranks_together() && watchdog_signalled()))
			break;
		if (k == 0 || ranks_together())
			threads_sample();
		start = clock_now();
		choice_run(choice, k, arrays);
		t->times[i] = clock_now() - start;
		threads_sample();
		t->lost[i] = threads_lost_seconds();
		/* one tick in half a second is not all four kernels' */
		if (t->times[i] >= STEAL_EVERY)
			note_steal(m, p, i * KERNELS + k + 1);
	}
	return k;
}

static int has_lost(const struct timing *t, int i)
{
	return t && t->lost && i >= 0 && t->lost[i] > WAKE_SECONDS &&
	       t->lost[i] > DISTURBED_SHARE * t->times[i];
}

static int is_disturbed(const struct timing *t, int i)
{
	return has_lost(t, i) || has_lost(t->before, i - t->before_back);
}

int measure_disturbed(const struct measurement *m)
{
	int i, k, disturbed = 0;

	for (i = 1; i < m->complete; i++) {
		int any = 0;

		for (k = 0; k < KERNELS; k++)
			any |= is_disturbed(&m->kernel[k], i);
		disturbed += any;
	}
	return disturbed;
}

/* The shortest time that counts of the repetitions FROM .. TO - 1; 0: there is none. */
static double shortest(const struct timing *t, int from, int to, int count_all)
{
	double best = 0;
	int i;

	for (i = from; i < to; i++)
		if ((count_all || !is_disturbed(t, i)) && (!(best > 0) || t->times[i] < best))
			best = t->times[i];
	return best;
}

static int parts_of(int counted)
{
	const int parts = counted / PART_REPETITIONS;

	return parts > PARTS ? PARTS : parts < PARTS_LEAST ? PARTS_LEAST : parts;
}

/* The parts of a run are shorter runs, begun one after the other: what their best ones scatter,
 * times Student's t. */
static void find_interval(struct timing *t, int complete, double bytes)
{
	const int count_all = t->counted == 0, all = complete - 1;
	const int parts = parts_of(count_all ? all : t->counted);
	double rates[PARTS], half;
	int part, known = 0;

	t->low_mbs = t->high_mbs = 0;
	for (part = 0; part < parts && all >= parts; part++) {
		const double best = shortest(t, 1 + part * all / parts,
					     1 + (part + 1) * all / parts, count_all);

		if (best > 0)
			rates[known++] = t->best / best;
	}
	if (known < 2)
		return;
	half = INTERVAL_FACTOR * student(known - 1) * deviation(rates, known);
	half = half > INTERVAL_LEAST ? half : INTERVAL_LEAST;
	if (half > INTERVAL_SAYS_NOTHING)
		return;
	t->low_mbs = 1e-6 * bytes / t->best * (1 - half);
	t->high_mbs = 1e-6 * bytes / t->best * (1 + half);
}

void measure_timing(struct timing *t, int complete, double bytes)
{
	double sum = 0;
	int i, count_all;

	t->best = t->worst = t->average = t->best_mbs = t->low_mbs = t->high_mbs = 0;
	t->counted = 0;
	if (complete < 2)
		return;
	for (i = 1; i < complete; i++)
		t->counted += !is_disturbed(t, i);
	count_all = t->counted == 0;
	t->best = shortest(t, 1, complete, count_all);
	for (i = 1; i < complete; i++) {
		if (!count_all && is_disturbed(t, i))
			continue;
		sum += t->times[i];
		if (t->times[i] > t->worst)
			t->worst = t->times[i];
	}
	t->average = sum / (count_all ? complete - 1 : t->counted);
	t->best_mbs = t->best > 0 ? 1e-6 * bytes / t->best : 0;
	find_interval(t, complete, bytes);
}

void measure_judge_peak(const struct measurement *m)
{
	int k;

	for (k = 0; k < KERNELS; k++)
		judge_peak(kernels[k].name, 1e-3 * m->kernel[k].best_mbs, "GB/s", options_peak());
}

void measure_summarize(struct measurement *m, size_t size, int ranks)
{
	int k;

	for (k = 0; k < KERNELS; k++)
		measure_timing(&m->kernel[k], m->complete,
			       (double)kernels_bytes(&kernels[k]) * (double)size * ranks);
}

static void judge_clean(const struct measurement *m, int k)
{
	const int least = m->complete - 1 < CLEAN_LEAST ? m->complete - 1 : CLEAN_LEAST;

	if (m->kernel[k].counted < least)
		verdict_invalid(DISTURBED,
				"%s: %d of %d repetitions were clean, fewer than %d: others kept "
				"a thread off its CPU for more than %.0f %% of each other one, or "
				"of the kernel before it%s",
				kernels[k].name, m->kernel[k].counted, m->complete - 1, least,
				100 * DISTURBED_SHARE, interference_by());
}

/* Without an interval nothing says how far a figure can be believed; who asked for a number of
 * repetitions has them, with a warning. */
static void judge_interval(const struct measurement *m, int k)
{
	const struct timing *const t = &m->kernel[k];
	const double wide = t->best_mbs > 0 ? t->high_mbs / t->best_mbs - 1 : 0;

	if (!(wide > 0))
		(m->ntimes ? verdict_warn : verdict_invalid)(
			UNSTABLE,
			"%s: too few repetitions count, or they scatter too far, to say how it "
			"would repeat within %.0f %%",
			kernels[k].name, 100 * INTERVAL_SAYS_NOTHING);
	if (wide > INTERVAL_WIDE)
		verdict_warn(UNSTABLE,
			     "%s: started again it would read %.1f to %.1f GB/s, more than %.0f "
			     "%% off",
			     kernels[k].name, 1e-3 * t->low_mbs, 1e-3 * t->high_mbs,
			     100 * INTERVAL_WIDE);
}

static void judge_spread(const struct timing *t, const char *name)
{
	const double spread = t->best > 0 ? 100 * (t->average / t->best - 1) : 0;

	if (spread > SPREAD_PERCENT)
		verdict_warn(UNSTABLE,
			     "%s took %.0f %% more than its best time on average, more "
			     "than %d %%",
			     name, spread, SPREAD_PERCENT);
}

void measure_judge(const struct measurement *m)
{
	int k;

	for (k = 0; k < KERNELS && m->complete > 1; k++) {
		const struct timing *t = &m->kernel[k];

		if (t->best < TICKS_AT_LEAST * m->tick)
			verdict_invalid(TOO_SHORT,
					"%s took %.3g s, under %d ticks of a clock of %.3g s",
					kernels[k].name, t->best, TICKS_AT_LEAST, m->tick);
		judge_clean(m, k);
		judge_interval(m, k);
		judge_spread(t, kernels[k].name);
	}
	if (!m->ntimes && m->ended != ENDED_SETTLED)
		verdict_warn(UNSTABLE, "not settled when it ended (%s, %d repetitions)",
			     measure_ended(m), m->complete);
	measure_judge_peak(m);
}

const char *measure_ended(const struct measurement *m)
{
	static const char *const names[] = { "count", "settled", "time limit", "", "other ranks" };
	static char text[32];

	if (m->ended != ENDED_SIGNAL)
		return names[m->ended];
	snprintf(text, sizeof(text), "signal %d", watchdog_signalled());
	return text;
}

static double *more_room(double *values, int before, int capacity)
{
	double *more = room_for((size_t)capacity, KERNELS * sizeof(*more), "times",
				"give less with '-t'");
	int k;

	for (k = 0; k < KERNELS && before; k++)
		memcpy(more + (size_t)k * (size_t)capacity, values + (size_t)k * (size_t)before,
		       (size_t)before * sizeof(*more));
	free(values);
	return more;
}

/* All times of a measurement lie in one piece, kernel after kernel. */
void measure_reserve(struct measurement *m, int capacity)
{
	double *times, *lost;
	int k;

	if (capacity <= m->capacity)
		return;
	times = more_room(m->kernel[0].times, m->capacity, capacity);
	lost = more_room(m->kernel[0].lost, m->capacity, capacity);
	for (k = 0; k < KERNELS; k++) {
		m->kernel[k].times = times + (size_t)k * (size_t)capacity;
		m->kernel[k].lost = lost + (size_t)k * (size_t)capacity;
		m->kernel[k].before = &m->kernel[k ? k - 1 : KERNELS - 1];
		m->kernel[k].before_back = k == 0;
	}
	m->capacity = capacity;
}

static void rank_block(struct best_blocks *best, double time)
{
	int b = BLOCKS_ALIKE - 1;

	if (!(time > 0) || (best->of[b] > 0 && time >= best->of[b]))
		return;
	for (; b > 0 && (!(best->of[b - 1] > 0) || time < best->of[b - 1]); b--)
		best->of[b] = best->of[b - 1];
	best->of[b] = time;
}

static void end_block(struct measurement *m, struct progress *p)
{
	const double now = clock_now();
	int k;

	if (m->complete - p->block_first < BLOCK_REPETITIONS || now - p->block_start < BLOCK_LASTS)
		return;
	for (k = 0; k < KERNELS; k++)
		rank_block(&p->best[k], shortest(&m->kernel[k], p->block_first, m->complete, 0));
	m->blocks++;
	p->block_first = m->complete;
	p->block_start = now;
}

/* The host of a virtual machine may move a core and move it back within a run. */
static void look_at_pair(struct measurement *m, struct progress *p)
{
	if (clock_now() - p->paired_at < PAIR_EVERY)
		return;
	core_pair_look(&m->nearest);
	p->paired_at = clock_now();
}

static int has_settled(const struct progress *p)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		const double *const best = p->best[k].of;

		if (!(best[BLOCKS_ALIKE - 1] > 0) ||
		    best[BLOCKS_ALIKE - 1] > best[0] * (1 + SETTLED_WITHIN))
			return 0;
	}
	return clock_now() - p->start >= SETTLED_LASTS;
}

/* Whether that was the last repetition; all ranks of a job come to the same answer. */
static int is_the_end(struct measurement *m, struct progress *p)
{
	const int over = m->max_seconds > 0 && m->complete >= m->least &&
			 clock_now() - p->start >= m->max_seconds;
	size_t of_all[2]; /* settled; in time */

	note_steal(m, p, m->complete * KERNELS);
	look_at_pair(m, p);
	end_block(m, p);
	m->ended = ENDED_COUNT;
	if (m->ntimes && m->complete == m->ntimes)
		return 1;
	if (m->ntimes && !(m->max_seconds > 0))
		return 0;
	of_all[0] = !m->ntimes && has_settled(p);
	of_all[1] = !over;
	if (!ranks_smallest(of_all, 2)) {
		m->ended = ENDED_BY_OTHERS;
		return 1;
	}
	m->ended = of_all[0] ? ENDED_SETTLED : ENDED_TIME;
	return of_all[0] || !of_all[1];
}

static void progress_start(struct progress *p)
{
	memset(p, 0, sizeof(*p));
	p->start = p->block_start = p->looked_at = p->paired_at = clock_now();
	p->block_first = 1;
	p->stolen = interference_stolen();
}

void measure(struct measurement *m, const struct kernel_choice *choice,
	     const struct arrays *arrays)
{
	const int reset_every = expect_reset_every();
	struct progress progress;
	int i, k = KERNELS;

	watchdog_heed(SIGTERM);
	watchdog_heed(SIGINT);
	m->tick = clock_tick();
	measure_reserve(m, m->ntimes ? m->ntimes : CAPACITY_FIRST);
	progress_start(&progress);
	for (i = 0;; i++) {
		if (i == m->capacity)
			measure_reserve(m, 2 * m->capacity);
		if (i > 0 && i % reset_every == 0)
			kernels_reset(arrays);
		k = iterate(m, &progress, choice, arrays, i);
		m->passed = i + 1;
		if (k < KERNELS)
			break;
		m->complete = i + 1;
		if (is_the_end(m, &progress))
			break;
	}
	if (k < KERNELS)
		m->ended = watchdog_signalled() ? ENDED_SIGNAL : ENDED_BY_OTHERS;
	for (; k < KERNELS; k++)
		choice_run(choice, k, arrays);
	measure_summarize(m, arrays->size, 1);
}
