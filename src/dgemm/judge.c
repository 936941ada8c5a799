#include "judge.h"

#include "../harness/error.h"
#include "../harness/machine/cgroup.h"
#include "../harness/order_statistics.h"

#include <stdlib.h>

/* TICKS_LAST: twenty of the kernel's ticks, by which it counts who worked.  CPUS_LEAST,
 * CPUS_TAKEN: of the CPUs asked for, what the threads must have had, unless they were taken. */
static const double TICKS_LAST = 0.08, CLEAN_SHARE = 0.01, CPUS_LEAST = 0.75, CPUS_TAKEN = 0.9,
		    GOOD_FACTOR = 1.02, UNSTABLE_SHARE = 0.05;

int repetition_is_clean(const struct repetition *r)
{
	return r->workers.ready <= CLEAN_SHARE * r->workers.wall;
}

/* The median of what is asked of each repetition. */
static double median_of(const struct shape *s, double (*ask)(const struct repetition *))
{
	double *const values = malloc((size_t)s->count * sizeof(*values)), result;
	int i;

	if (!values)
		die("no memory for '%d' figures", "give less with '-t'", s->count);
	for (i = 0; i < s->count; i++)
		values[i] = ask(&s->repetitions[i]);
	result = median(values, s->count);
	free(values);
	return result;
}

static double workers_of(const struct repetition *r)
{
	return r->workers.count;
}

static double cpus_had(const struct repetition *r)
{
	return r->workers.all / r->workers.wall;
}

static double others_of(const struct repetition *r)
{
	return r->others > 0 ? r->others / r->workers.wall : 0;
}

static double seconds_of(const struct repetition *r)
{
	return r->workers.wall;
}

static double percent_of(const struct repetition *r)
{
	return r->percent;
}

int shape_workers(const struct shape *s)
{
	return (int)median_of(s, workers_of);
}

double shape_cpus(const struct shape *s)
{
	return median_of(s, cpus_had);
}

double shape_percent(const struct shape *s, double *low, double *high)
{
	int i;

	*low = *high = s->repetitions[0].percent;
	for (i = 1; i < s->count; i++) {
		const double percent = s->repetitions[i].percent;

		*low = percent < *low ? percent : *low;
		*high = percent > *high ? percent : *high;
	}
	return median_of(s, percent_of);
}

static double best(const struct shape *s, int clean_alone)
{
	double most = 0;
	int i;

	for (i = 0; i < s->count; i++)
		if ((!clean_alone || repetition_is_clean(&s->repetitions[i])) &&
		    s->repetitions[i].gflops > most)
			most = s->repetitions[i].gflops;
	return most;
}

double shape_gflops(const struct shape *s)
{
	const double clean = best(s, 1);

	return clean > 0 ? clean : best(s, 0);
}

static void judge_workers(const struct shape *s, const struct blas *blas, int threads)
{
	const char *const name = shape_names[s->kind], *const spins = workers_spin();
	const double cpus = shape_cpus(s), others = median_of(s, others_of);
	const double quota = cgroup_cpu_quota();
	const int worked = shape_workers(s);

	if (quota > 0 && quota < CPUS_TAKEN * threads)
		verdict_invalid(THREADS_IDLE, "a cgroup grants %d threads the time of %.2f CPUs",
				threads, quota);
	if (spins)
		verdict_invalid(THREADS_IDLE,
				"with %s a thread that waits looks as if it worked: "
				"set OMP_WAIT_POLICY=PASSIVE",
				spins);
	if (!worked)
		verdict_warn(THREADS_IDLE, "%s: this kernel does not say which threads worked",
			     name);
	else if (worked < threads)
		verdict_invalid(
			THREADS_IDLE,
			"%s: %d of %d threads worked, in %s; --threads says how many shall", name,
			worked, threads, blas_text(blas));
	else if (cpus < CPUS_LEAST * threads && cpus + others < CPUS_TAKEN * threads)
		verdict_invalid(THREADS_IDLE,
				"%s: %d threads worked, but had the time of %.1f CPUs: an "
				"affinity keeps them there",
				name, worked, cpus);
}

static void judge_figures(const struct shape *s, double stated)
{
	const char *const name = shape_names[s->kind];
	int i;

	for (i = 0; i < s->count; i++) {
		const struct repetition *const r = &s->repetitions[i];

		if (r->gflops > GOOD_FACTOR * r->ceiling.gflops)
			verdict_invalid(TOO_GOOD,
					"%s reads %.1f GFlop/s, and what the threads could do "
					"at that moment was %.1f",
					name, r->gflops, r->ceiling.gflops);
		if (r->moved > UNSTABLE_SHARE || r->moved < -UNSTABLE_SHARE)
			verdict_warn(UNSTABLE,
				     "%s: what the threads could do changed by %.0f %% during one "
				     "multiplication",
				     name, 100 * r->moved);
	}
	if (stated > 0 && shape_gflops(s) > stated)
		verdict_warn(TOO_GOOD,
			     "%s reads %.1f GFlop/s, above the stated %g: a peak at the base "
			     "clock, or a wrong one",
			     name, shape_gflops(s), stated);
}

static void judge_spread(const struct shape *s)
{
	double low, high;
	const double usual = shape_percent(s, &low, &high);

	if (high - low > 2 * UNSTABLE_SHARE * usual)
		verdict_invalid(UNSTABLE,
				"%s: %.1f to %.1f %% of attainable, more than %.0f %% off the "
				"median",
				shape_names[s->kind], low, high, 100 * UNSTABLE_SHARE);
}

void shape_judge(const struct shape *s, const struct blas *blas, int threads, double stated)
{
	const double lasted = median_of(s, seconds_of);

	if (lasted < TICKS_LAST)
		verdict_invalid(TOO_SHORT,
				"%s took %.3g s, under 20 ticks of the kernel (%g s), by which it "
				"counts who worked",
				shape_names[s->kind], lasted, TICKS_LAST);
	judge_workers(s, blas, threads);
	judge_figures(s, stated);
	judge_spread(s);
}

void kernels_judge(const struct blas *blas)
{
	const char *const variable = blas_chosen_by(blas);

	if (variable)
		verdict_invalid(FORCED_KERNELS,
				"%s=%s in the environment chose the library's kernels, not this "
				"CPU: the figures are theirs, not the node's",
				variable, getenv(variable));
}

void shapes_judge_disturbed(const struct shape *shapes, int count)
{
	int i, clean = 0;

	for (i = 0; i < count; i++)
		clean += best(&shapes[i], 1) > 0;
	if (clean == count)
		verdict_withdraw(DISTURBED);
	else
		verdict_invalid(DISTURBED,
				"no repetition was clean: others kept a thread off its CPU for "
				"more than %.0f %% of each",
				100 * CLEAN_SHARE);
}
