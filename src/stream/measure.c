#include "measure.h"

#include "clock.h"
#include "error.h"
#include "threads.h"
#include "verdict.h"

#include <stdlib.h>

static void iterate(struct measurement *m, const struct arrays *arrays, int i)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		const double start = clock_now();

		kernels[k].run(arrays);
		m->kernel[k].times[i] = clock_now() - start;
		threads_sample();
	}
}

static void summarize(struct timing *t, int ntimes, double bytes)
{
	double sum = 0;
	int i;

	t->best = t->worst = t->times[1];
	for (i = 1; i < ntimes; i++) {
		sum += t->times[i];
		if (t->times[i] < t->best)
			t->best = t->times[i];
		if (t->times[i] > t->worst)
			t->worst = t->times[i];
	}
	t->average = sum / (ntimes - 1);
	t->best_mbs = t->best > 0 ? 1e-6 * bytes / t->best : 0;
}

static void judge_peak(const char *kernel, double gbs, const struct peak *peak)
{
	static const char text[] = "%s reads %.1f GB/s, above the peak of %g GB/s (%s)";

	if (peak->source == PEAK_OPTION && gbs > peak->gbs)
		verdict_invalid(TOO_GOOD, text, kernel, gbs, peak->gbs, peak->note);
	if (peak->source == PEAK_DMI && gbs > peak->gbs)
		verdict_warn(TOO_GOOD, text, kernel, gbs, peak->gbs, peak->note);
}

void measure_judge(const struct measurement *m, const struct peak *peak)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		const struct timing *t = &m->kernel[k];
		const double spread = t->best > 0 ? 100 * (t->average / t->best - 1) : 0;

		if (t->best < TICKS_AT_LEAST * m->tick)
			verdict_invalid(TOO_SHORT,
					"%s took %.3g s, under %d ticks of a clock of %.3g s",
					kernels[k].name, t->best, TICKS_AT_LEAST, m->tick);
		if (spread > SPREAD_PERCENT)
			verdict_warn(UNSTABLE,
				     "%s took %.0f %% more than its best time on average, more "
				     "than %d %%",
				     kernels[k].name, spread, SPREAD_PERCENT);
		judge_peak(kernels[k].name, 1e-3 * t->best_mbs, peak);
	}
}

void measure(struct measurement *m, const struct arrays *arrays, int ntimes)
{
	int i, k;

	m->ntimes = ntimes;
	m->tick = clock_tick();
	for (k = 0; k < KERNELS; k++) {
		m->kernel[k].times = calloc((size_t)ntimes, sizeof(double));
		if (!m->kernel[k].times)
			ask_again("give less with '-t'", "no memory for '%d' times", ntimes);
	}
	for (i = 0; i < ntimes; i++) {
		if (i > 0 && i % RESET_EVERY == 0)
			kernels_reset(arrays);
		iterate(m, arrays, i);
	}
	for (k = 0; k < KERNELS; k++)
		summarize(&m->kernel[k], ntimes,
			  (double)(kernels[k].words * sizeof(element)) * (double)arrays->size);
}
