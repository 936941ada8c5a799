#include "measure.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/fault.h"
#include "../harness/job/ranks.h"
#include "../harness/metrics.h"
#include "../harness/options.h"
#include "../harness/verdict.h"
#include "kernels/expect.h"
#include "kernels/start_values.h"

#include <stdlib.h>

/* Returns how many kernels were timed. */
static int iterate(struct measurement *m, const struct kernel_choice *choice,
		   const struct arrays *arrays, int i)
{
	int k;

	for (k = 0; k < KERNELS; k++) {
		double start;

		if (!ranks_barrier(k ? m->kernel[k - 1].times[i] : 0))
			break;
		start = clock_now();
		choice_run(choice, k, arrays);
		m->kernel[k].times[i] = clock_now() - start;
		m->kernel[k].times[i] = fault_time(m->kernel[k].times[i], i);
		threads_sample();
	}
	return k;
}

void measure_timing(struct timing *t, int complete, double bytes)
{
	double sum = 0;
	int i;

	t->best = t->worst = t->average = t->best_mbs = 0;
	if (complete < 2)
		return;
	t->best = t->worst = t->times[1];
	for (i = 1; i < complete; i++) {
		sum += t->times[i];
		if (t->times[i] < t->best)
			t->best = t->times[i];
		if (t->times[i] > t->worst)
			t->worst = t->times[i];
	}
	t->average = sum / (complete - 1);
	t->best_mbs = t->best > 0 ? 1e-6 * bytes / t->best : 0;
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
			       (double)kernel_bytes(&kernels[k]) * (double)size * ranks);
}

void measure_judge(const struct measurement *m)
{
	int k;

	for (k = 0; k < KERNELS && m->complete > 1; k++) {
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
	}
	measure_judge_peak(m);
}

void measure_prepare(struct measurement *m, int ntimes)
{
	double *times = calloc((size_t)ntimes * KERNELS, sizeof(*times));
	int k;

	if (!times)
		die("no memory for '%d' times", "give less with '-t'", ntimes);
	m->ntimes = ntimes;
	for (k = 0; k < KERNELS; k++)
		m->kernel[k].times = times + (size_t)k * (size_t)ntimes;
}

void measure(struct measurement *m, const struct kernel_choice *choice,
	     const struct arrays *arrays)
{
	const int reset_every = expect_reset_every();
	int i, k = KERNELS;

	m->tick = clock_tick();
	for (i = 0; i < m->ntimes; i++) {
		if (i > 0 && i % reset_every == 0)
			kernels_reset(arrays);
		k = iterate(m, choice, arrays, i);
		m->passed = i + 1;
		if (k < KERNELS)
			break;
		m->complete = i + 1;
	}
	for (; k < KERNELS; k++)
		choice_run(choice, k, arrays);
	measure_summarize(m, arrays->size, 1);
}
