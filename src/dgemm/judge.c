#include "judge.h"

#include "../harness/evidence/interference.h"
#include "../harness/evidence/pinning.h"
#include "../harness/machine/cgroup.h"
#include "../harness/plural.h"

/* TICKS_LAST: twenty of the kernel's ticks, by which it counts who worked.  CPUS_LEAST,
 * CPUS_TAKEN: the share of the requested CPUs that the threads must get, unless other processes
 * used them. */
static const double TICKS_LAST = 0.08, CPUS_LEAST = 0.75, CPUS_TAKEN = 0.9, GOOD_FACTOR = 1.02;

static double workers_of(const struct repetition *r)
{
	return r->workers.count;
}

static double cpus_used(const struct repetition *r)
{
	return r->workers.all / r->workers.wall;
}

static double other_cpus_of(const struct repetition *r)
{
	return r->other_cpu_s > 0 ? r->other_cpu_s / r->workers.wall : 0;
}

static double seconds_of(const struct repetition *r)
{
	return r->workers.wall;
}

int shape_workers(const struct shape *s)
{
	return (int)repetitions_median(s, workers_of);
}

static void judge_workers(const struct shape *s, const struct blas *blas, int threads)
{
	const char *const name = shape_names[s->kind], *const spins = workers_spin();
	const double cpus = repetitions_median(s, cpus_used),
		     other_cpus = repetitions_median(s, other_cpus_of);
	const double quota = cgroup_cpu_quota();
	const int worked = shape_workers(s);

	pinning_judge_quota(threads);
	if (spins)
		verdict_invalid(THREADS_IDLE,
				"with %s waiting threads look like working ones: "
				"set OMP_WAIT_POLICY=PASSIVE",
				spins);
	if (!worked)
		verdict_warn(THREADS_IDLE, "%s: this kernel does not say which threads worked",
			     name);
	else if (worked < threads)
		verdict_invalid(THREADS_IDLE,
				"%s: %d of %d threads worked, in %s; --threads sets how many must",
				name, worked, threads, blas_text(blas));
	else if ((quota <= 0 || quota > threads) && cpus < CPUS_LEAST * threads &&
		 cpus + other_cpus < CPUS_TAKEN * threads)
		verdict_invalid(THREADS_IDLE,
				"%s: %d thread%s worked, but on %.1f CPUs: "
				"an affinity limits them",
				name, worked, plural(worked), cpus);
}

/* The host may give more during a repetition than before and after it, so a repetition is compared
 * with the highest ceiling of the run. */
static void judge_figures(const struct shape *s, double stated)
{
	const char *const name = shape_names[s->kind];
	struct rate rate;
	int i;

	for (i = 0; i < s->count; i++)
		if (s->repetitions[i].gflops > GOOD_FACTOR * ceiling_most())
			verdict_invalid(TOO_GOOD,
					"%s reads %.1f GFlop/s, but at most %.1f were "
					"attainable in this run",
					name, s->repetitions[i].gflops, ceiling_most());
	repetitions_rate(&rate, s);
	if (stated > 0 && rate.value > stated)
		verdict_warn(TOO_GOOD,
			     "%s reads %.1f GFlop/s, above the stated peak of %s: it is "
			     "wrong, or at the base clock",
			     name, rate.value, number_text(stated, 6));
}

static void judge_spread(const struct shape *s)
{
	struct order_statistics share;

	repetitions_share(&share, s);
	if (!repetitions_clean(s))
		verdict_warn(
			DISTURBED,
			"%s: in each of %d repetitions a thread lost more than 5 %% of its time, "
			"or was slower: GFlop/s are a lower bound%s",
			shape_names[s->kind], s->count, interference_by());
	else if (!repetitions_share_is_known(s))
		verdict_warn(
			UNSTABLE,
			"%s: no interval: %d clean repetitions are %.1f to %.1f %% of attainable",
			shape_names[s->kind], repetitions_clean(s), share.low, share.high);
}

void shape_judge(const struct shape *s, const struct blas *blas, int threads, double stated)
{
	const double lasted = repetitions_median(s, seconds_of);

	if (lasted < TICKS_LAST)
		verdict_invalid(TOO_SHORT,
				"%s took %s, under 20 kernel ticks (%s): too short to "
				"count working threads",
				shape_names[s->kind], seconds_text(lasted),
				seconds_text(TICKS_LAST));
	judge_workers(s, blas, threads);
	judge_figures(s, stated);
	judge_spread(s);
}

void kernels_judge(const struct blas *blas)
{
	const char *const variable = blas_chosen_by(blas);

	if (variable)
		verdict_invalid(
			FORCED_KERNELS,
			"%s=%s in the environment chose the library's kernels, not this "
			"CPU: the figures are theirs, not the node's; unset it, or allow it "
			"where it is meant",
			variable, getenv(variable));
}
