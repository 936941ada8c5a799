#include "sweep.h"

#include "generators.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/watchdog.h"
#include "../harness/openmp.h"
#include "../harness/order_statistics.h"
#include "../harness/plan.h"
#include "../harness/rate.h"

const double sweep_rates[RATES] = { 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1 };

/* Generators reach their rate within some us; the queues of memory follow at once. */
static const double SETTLE_SECONDS = 0.002;

enum { WALK_LOADS = 1024, CURVE_LEAST = 6 };

/* One window of the thread that chases. */
static struct window sweep_chase(struct chase *chase, double seconds, size_t *loads)
{
	struct window window = { clock_now(), clock_thread(), 0 };
	double until = window.seconds + seconds, now;

	*loads = 0;
	do {
		chase_walk(chase, WALK_LOADS);
		*loads += WALK_LOADS;
		now = clock_now();
	} while (now < until);
	window.seconds = now - window.seconds;
	window.cpu_s = clock_thread() - window.cpu_s;
	return window;
}

static void sweep_sum_up(struct measured *measured, const struct window *chased, size_t loads,
			 int generators)
{
	double longest = chased->seconds, bytes = 0;
	int g;

	*measured = (struct measured){ .ns = 1e9 * chased->seconds / (double)loads,
				       .least_cpu = chased->cpu_s / chased->seconds,
				       .cpu_ns = 1e9 * chased->cpu_s / (double)loads };
	for (g = 0; g < generators; g++) {
		const struct window *const w = generator_window(g);
		const double gbs = w->seconds > 0 ? 1e-9 * w->bytes / w->seconds : 0;
		/* one that did not run sees the window open and close at one moment */
		const double lasted = w->seconds > chased->seconds ? w->seconds : chased->seconds;
		const double cpu = w->cpu_s / lasted;

		longest = lasted > longest ? lasted : longest;
		bytes += w->bytes;

		measured->gbs += gbs;
		if (g == 0 || gbs < measured->least_gbs)
			measured->least_gbs = gbs;
		if (gbs > measured->most_gbs)
			measured->most_gbs = gbs;
		if (cpu < measured->least_cpu)
			measured->least_cpu = cpu;
	}
	measured->sure_gbs = 1e-9 * bytes / longest;
}

/* A window in which the generators move RATE counted bytes per second together (generator_run()
 * has 0 and below). */
static void sweep_window(struct sweep *sweep, struct measured *measured, const struct mix *mix,
			 double rate, double seconds)
{
	struct window chased = { 0, 0, 0 };
	size_t loads = 0;

	generators_start();
#pragma omp parallel
	if (omp_get_thread_num() == 0) {
		generators_wait_running();
		sweep_chase(&sweep->chase, SETTLE_SECONDS, &loads);
		generators_tell(WINDOW_OPENS);
		chased = sweep_chase(&sweep->chase, seconds, &loads);
		generators_tell(WINDOW_CLOSES);
		generators_tell(GENERATORS_STOP);
	} else {
		generator_run(omp_get_thread_num() - 1, mix, rate / sweep->generators);
	}
	threads_sample();
	sweep_sum_up(measured, &chased, loads, sweep->generators);
}

/* 1 if the window counts; else it was measured again, WINDOWS_MOST times, or until as many windows
 * as there are points were measured again. */
static int sweep_try(struct sweep *sweep, struct measured *measured, int *windows,
		     const struct mix *mix, double rate, double seconds)
{
	for (*windows = 1;; ++*windows) {
		sweep_window(sweep, measured, mix, rate, seconds);
		if (measured->sure_gbs > sweep->sure_gbs[mix - mixes])
			sweep->sure_gbs[mix - mixes] = measured->sure_gbs;
		if (rate_counts(1 - measured->least_cpu))
			return 1;
		if (*windows == WINDOWS_MOST || sweep->again == sweep->count ||
		    watchdog_signalled() || (sweep->until > 0 && clock_now() > sweep->until))
			return 0;
		sweep->again++;
	}
}

static double sweep_without(struct sweep *sweep)
{
	struct measured measured;
	int windows;

	if (sweep_try(sweep, &measured, &windows, &mixes[0], -1, sweep->seconds / 2))
		sweep->unloaded_ns[sweep->unloaded_count++] = measured.ns;
	sweep->unloaded_cpu_ns[sweep->unloaded_all++] = measured.cpu_ns;
	return measured.ns;
}

static void sweep_take(struct sweep *sweep, struct point *point)
{
	const double part = sweep_rates[point->rate];

	point->unloaded_ns = sweep_without(sweep);
	point->requested_gbs = part < 1 ? part * sweep->highest_gbs[point->mix] : 0;
	point->counts = sweep_try(sweep, &point->m, &point->windows, &mixes[point->mix],
				  1e9 * point->requested_gbs, sweep->seconds);
}

/* The rates are parts of what a mix reaches at once, the best of five windows. */
static void sweep_find_highest(struct sweep *sweep)
{
	struct measured m;
	int i, turn, windows;

	for (i = 0; i < sweep->mix_count; i++)
		for (turn = 0; turn < 5 && !watchdog_signalled(); turn++) {
			double *const highest = &sweep->highest_gbs[sweep->mixes[i]];

			sweep_try(sweep, &m, &windows, &mixes[sweep->mixes[i]], 0, sweep->seconds);
			if (m.gbs > *highest)
				*highest = m.gbs;
		}
}

/* Fisher and Yates, by a generator of Marsaglia's (xorshift): the same order in each run. */
static void sweep_shuffle(struct point *points, int count, uint64_t *state)
{
	int i;

	for (i = count - 1; i > 0; i--) {
		struct point other;
		int j;

		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		j = (int)(*state % (uint64_t)(i + 1));
		other = points[i];
		points[i] = points[j];
		points[j] = other;
	}
}

static void sweep_plan(struct sweep *sweep)
{
	static const char hint[] = "ask for fewer rounds or mixes";
	const int per_round = sweep->mix_count * RATES;
	uint64_t state = 88172645463325252ull;
	int round, m, r;

	sweep->points = room_for((size_t)(per_round * sweep->rounds), sizeof(*sweep->points),
				 "points", hint);
	sweep->unloaded_ns = room_for((size_t)(per_round * sweep->rounds),
				      2 * sizeof(*sweep->unloaded_ns), "points", hint);
	sweep->unloaded_cpu_ns = sweep->unloaded_ns + per_round * sweep->rounds;
	for (round = 0; round < sweep->rounds; round++) {
		struct point *const first = &sweep->points[sweep->count];

		for (m = 0; m < sweep->mix_count; m++)
			for (r = 0; r < RATES; r++)
				sweep->points[sweep->count++] = (struct point){
					.mix = sweep->mixes[m], .rate = r, .round = round
				};
		sweep_shuffle(first, per_round, &state);
	}
}

void sweep_measure(struct sweep *sweep)
{
	const int per_round = sweep->mix_count * RATES;
	double began;
	int i;

	sweep_plan(sweep);
	plan_done("points", 0, sweep->count);
	sweep_find_highest(sweep);
	began = clock_now();
	for (i = 0; i < sweep->count; i++) {
		const int round = sweep->points[i].round;
		const double now = clock_now(),
			     lasts = i % per_round || !round ? 0 : (now - began) / round;

		if (sweep->until > 0 && now + (round >= ROUNDS_LEAST ? lasts : 0) > sweep->until)
			break;
		if (watchdog_signalled())
			break;
		sweep_take(sweep, &sweep->points[i]);
		plan_done("points", i + 1, sweep->count);
	}
	sweep->count = i;
	sweep->rounds = i / per_round;
	plan_end();
}

const struct point *sweep_point(const struct sweep *sweep, int mix, int rate, int round)
{
	int i;

	for (i = 0; i < sweep->count; i++) {
		const struct point *const p = &sweep->points[i];

		if (p->mix == mix && p->rate == rate && p->round == round)
			return p->counts ? p : NULL;
	}
	return NULL;
}

static struct sweep_figure sweep_range(double *values, int count)
{
	struct sweep_figure figure = { .rounds = count };

	if (count < ROUNDS_LEAST)
		return figure;
	figure.median = median(values, count); /* sorts them */
	figure.low = values[0];
	figure.high = values[count - 1];
	return figure;
}

struct sweep_figure sweep_unloaded(const struct sweep *sweep)
{
	struct order_statistics s;
	struct sweep_figure figure = { .rounds = sweep->unloaded_count };
	double *const values =
		room_for((size_t)sweep->unloaded_all + 1, sizeof(*values), "windows", "");

	if (sweep->unloaded_count >= INTERVAL_SAMPLES) {
		memcpy(values, sweep->unloaded_ns,
		       (size_t)sweep->unloaded_count * sizeof(*values));
		order_statistics(&s, values, sweep->unloaded_count);
		figure = (struct sweep_figure){ s.median, s.low, s.high, s.count, 0 };
	} else if (sweep->unloaded_all) {
		memcpy(values, sweep->unloaded_cpu_ns,
		       (size_t)sweep->unloaded_all * sizeof(*values));
		figure.median = median(values, sweep->unloaded_all);
	}
	free(values);
	return figure;
}

/* The curve of one round; 0 where its last point does not count, or fewer than six do. */
static int sweep_curve(const struct sweep *sweep, int mix, int round,
		       struct curve_figures *figures)
{
	struct curve_point points[RATES + 1] = { { 0, 0 } };
	double unloaded[RATES];
	int r, n = 0;

	if (!sweep_point(sweep, mix, RATES - 1, round))
		return 0;
	for (r = 0; r < RATES; r++) {
		const struct point *const p = sweep_point(sweep, mix, r, round);

		if (!p)
			continue;
		unloaded[n++] = p->unloaded_ns;
		points[n] = (struct curve_point){ p->m.gbs, p->m.ns };
	}
	if (n < CURVE_LEAST)
		return 0;
	points[0].ns = median(unloaded, n);
	curve_read(figures, points, n + 1);
	return 1;
}

void sweep_figures(const struct sweep *sweep, int mix, struct mix_figures *figures)
{
	double most[ROUNDS_MAX], half[ROUNDS_MAX], twice[ROUNDS_MAX];
	struct curve_figures c;
	int round, n = 0, reached = 0;

	figures->wave_forms = 0;
	for (round = 0; round < sweep->rounds; round++)
		if (sweep_curve(sweep, mix, round, &c)) {
			most[n] = c.max_gbs;
			half[n++] = c.ns_at_half;
			if (c.gbs_at_2x > 0)
				twice[reached++] = c.gbs_at_2x;
			figures->wave_forms += c.has_wave_form;
		}
	figures->rounds = n;
	figures->max_gbs = sweep_range(most, n);
	if (n < ROUNDS_LEAST)
		figures->max_gbs =
			(struct sweep_figure){ .median = sweep->sure_gbs[mix], .is_bound = 1 };
	figures->ns_at_half = sweep_range(half, n);
	/* a knee that half of the rounds do not see is none */
	figures->gbs_at_2x = sweep_range(twice, 2 * reached > n ? reached : 0);
}
