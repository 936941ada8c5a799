#include "measure.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/ranks.h"
#include "../harness/job/watchdog.h"
#include "../harness/metrics.h"
#include "../harness/options.h"
#include "../harness/plural.h"
#include "../harness/verdict.h"
#include "kernels/expect.h"
#include "kernels/start_values.h"

#include <signal.h>

enum { CAPACITY_FIRST = 64, BLOCK_REPETITIONS = 3, BLOCKS_ALIKE = 3 };

static const double BLOCK_LASTS = 0.25, SETTLED_LASTS = 1, SETTLED_WITHIN = 0.02;
static const double WAKE_SECONDS = 50e-6, STEAL_EVERY = 0.02, INTERVAL_WIDE = 0.05;

struct progress {
	double start, block_start, stolen;
	int block_first; /* the repetition that the block begins with */
	int looked_for;  /* the run of a kernel, all counted on, up to which steal was read */
	double looked_at;
	double best[KERNELS][BLOCKS_ALIKE]; /* blocks of a kernel, the shortest time first */
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

/* Returns how many kernels were timed.  A signal ends a run that has a figure. */
static int iterate(struct measurement *m, struct progress *p, const struct arrays *arrays, int i)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		struct timing *const t = &m->kernel[k];
		double start;

		if (!ranks_barrier(k ? m->kernel[k - 1].times[i] : 0) ||
		    (i >= REPETITIONS_LEAST && !ranks_together() && watchdog_signalled()))
			break;
		if (k == 0 || ranks_together())
			threads_sample();
		start = clock_now();
		kernels[k].run(arrays);
		t->times[i] = clock_now() - start;
		threads_sample();
		t->lost[i] = threads_lost_seconds();
		/* one tick in half a second is not all four kernels' */
		if (t->times[i] >= STEAL_EVERY)
			note_steal(m, p, i * KERNELS + k + 1);
	}
	return k;
}

/* Seconds that a thread lost in repetition I. */
static double lost_in(const struct timing *t, int i)
{
	return t && t->lost && i >= 0 && t->lost[i] > WAKE_SECONDS ? t->lost[i] : 0;
}

static double lost_share(const struct timing *t, int i)
{
	return lost_in(t, i) / t->times[i];
}

/* Of repetition I, longer by what it need not have moved, because it may have been in the caches.
 */
static double certain_time(const struct timing *t, int i, double bytes, size_t caches)
{
	const double in_caches = lost_in(t->before, i - t->before_back) / t->times[i];
	const double most = (double)caches < bytes ? (double)caches / bytes : 0;

	return t->times[i] / (1 - (in_caches < most ? in_caches : most));
}

int measure_disturbed(const struct measurement *m)
{
	int i, k, disturbed = 0;

	for (i = 1; i < m->complete; i++) {
		int any = 0;

		for (k = 0; k < KERNELS; k++)
			any |= !rate_counts(lost_share(&m->kernel[k], i));
		disturbed += any;
	}
	return disturbed;
}

/* The shortest time that counts of the repetitions FROM .. TO - 1; 0: there is none. */
static double shortest(const struct timing *t, int from, int to)
{
	double best = 0;
	int i;

	for (i = from; i < to; i++)
		if (rate_counts(lost_share(t, i)) && (!is_positive(best) || t->times[i] < best))
			best = t->times[i];
	return best;
}

static void find_rate(struct timing *t, int count, double bytes, size_t caches)
{
	double *const rates =
		room_for((size_t)count, 2 * sizeof(*rates), "rates", "give less with '-t'");
	double *const lost = rates + count;
	int i;

	for (i = 0; i < count; i++) {
		rates[i] = bytes / certain_time(t, i + 1, bytes, caches);
		lost[i] = lost_share(t, i + 1);
	}
	rate_of(&t->rate, rates, lost, count);
	free(rates);
}

void measure_timing(struct timing *t, int complete, double bytes, size_t caches)
{
	double sum = 0;
	int i, count = 0;

	memset(&t->rate, 0, sizeof(t->rate));
	t->best = t->worst = t->average = t->best_mbs = 0;
	if (complete < 2)
		return;
	find_rate(t, complete - 1, bytes, caches);
	for (i = 1; i < complete; i++) {
		const double seconds = certain_time(t, i, bytes, caches);

		if (!t->rate.is_bound && !rate_counts(lost_share(t, i)))
			continue;
		sum += seconds;
		count++;
		if (seconds > t->worst)
			t->worst = seconds;
	}
	t->average = sum / count;
	t->best = certain_time(t, t->rate.best + 1, bytes, caches);
	t->best_mbs = 1e-6 * t->rate.value;
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
			       (double)kernels_bytes(&kernels[k]) * (double)size * ranks,
			       m->caches);
}

static void judge_bound(const struct measurement *m, int k)
{
	const struct rate *const rate = &m->kernel[k].rate;

	if (!rate->counted)
		verdict_warn(DISTURBED,
			     "%s: in each of %d repetitions a thread lost more than 5 %% of its "
			     "time: %s%s",
			     kernels[k].name, m->complete - 1, rate_bound(rate),
			     interference_by());
	else if (rate->is_bound && !interference_is_loud())
		verdict_warn(UNSTABLE,
			     "%s: no interval, %s: %d repetition%s, or they differ by more than "
			     "50 %%",
			     kernels[k].name, rate_bound(rate), rate->counted,
			     rate->counted == 1 ? " counts" : "s count");
}

static void judge_interval(const struct measurement *m, int k)
{
	const struct rate *const rate = &m->kernel[k].rate;

	if (!rate->is_bound && rate->high > (1 + INTERVAL_WIDE) * rate->value)
		verdict_warn(UNSTABLE,
			     "%s: a rerun would read %.1f to %.1f GB/s, more than %.0f %% off",
			     kernels[k].name, 1e-9 * rate->low, 1e-9 * rate->high,
			     100 * INTERVAL_WIDE);
}

void measure_judge(const struct measurement *m)
{
	int k;

	for (k = 0; k < KERNELS && m->complete > 1; k++) {
		const struct timing *t = &m->kernel[k];

		if (t->best < TICKS_AT_LEAST * m->tick)
			verdict_invalid(TOO_SHORT, "%s took %s, under %d ticks of a clock of %s",
					kernels[k].name, seconds_text(t->best), TICKS_AT_LEAST,
					seconds_text(m->tick));
		judge_bound(m, k);
		judge_interval(m, k);
	}
	if (!m->ntimes && m->ended != ENDED_SETTLED)
		verdict_warn(UNSTABLE, "not settled when it ended (%s, %d repetitions)",
			     measure_ended(m), m->complete);
	measure_judge_peak(m);
}

const char *measure_ended(const struct measurement *m)
{
	static const char *const names[] = { "count", "settled", "time limit", "", "other ranks" };

	return m->ended == ENDED_SIGNAL ? watchdog_ended_by() : names[m->ended];
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

static void rank_block(double best[BLOCKS_ALIKE], double time)
{
	int b = BLOCKS_ALIKE - 1;

	if (!is_positive(time) || (best[b] > 0 && time >= best[b]))
		return;
	for (; b > 0 && (!is_positive(best[b - 1]) || time < best[b - 1]); b--)
		best[b] = best[b - 1];
	best[b] = time;
}

static void end_block(struct measurement *m, struct progress *p)
{
	const double now = clock_now();
	int k;

	if (m->complete - p->block_first < BLOCK_REPETITIONS || now - p->block_start < BLOCK_LASTS)
		return;
	for (k = 0; k < KERNELS; k++)
		rank_block(p->best[k], shortest(&m->kernel[k], p->block_first, m->complete));
	m->blocks++;
	p->block_first = m->complete;
	p->block_start = now;
}

static int has_settled(const struct progress *p)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		const double *const best = p->best[k];

		if (!is_positive(best[BLOCKS_ALIKE - 1]) ||
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
	end_block(m, p);
	m->ended = ENDED_COUNT;
	if (m->ntimes && m->complete == m->ntimes)
		return 1;
	if (m->ntimes && !is_positive(m->max_seconds))
		return 0;
	of_all[0] = !m->ntimes && has_settled(p);
	of_all[1] = !over;
	if (!ranks_smallest(of_all, 2)) {
		m->ended = ENDED_BY_RANK;
		return 1;
	}
	m->ended = of_all[0] ? ENDED_SETTLED : ENDED_TIME;
	return of_all[0] || !of_all[1];
}

static void progress_start(struct progress *p)
{
	memset(p, 0, sizeof(*p));
	p->start = p->block_start = p->looked_at = clock_now();
	p->block_first = 1;
	p->stolen = interference_stolen();
}

void measure(struct measurement *m, const struct arrays *arrays)
{
	const int reset_every = expect_reset_every();
	struct progress progress;
	int i, k = KERNELS;

	m->tick = clock_tick();
	measure_reserve(m, m->ntimes ? m->ntimes : CAPACITY_FIRST);
	progress_start(&progress);
	for (i = 0;; i++) {
		if (i == m->capacity)
			measure_reserve(m, 2 * m->capacity);
		if (i > 0 && i % reset_every == 0)
			kernels_reset(arrays);
		k = iterate(m, &progress, arrays, i);
		m->passed = i + 1;
		if (k < KERNELS)
			break;
		m->complete = i + 1;
		if (is_the_end(m, &progress))
			break;
	}
	if (k < KERNELS)
		m->ended = watchdog_signalled() ? ENDED_SIGNAL : ENDED_BY_RANK;
	for (; k < KERNELS; k++)
		kernels[k].run(arrays);
}
