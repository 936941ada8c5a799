#include "rounds.h"

#include "../harness/clock.h"
#include "../harness/job/watchdog.h"
#include "../harness/plan.h"
#include "../harness/verdict.h"

/* The host's clock includes the launch: some 20 us, more where a device is behind a hypervisor. */
static const double LAUNCH = 2e-4, AGREE = 0.05, CLOCK_ERROR = 0.01;

void rounds_measure(struct rounds *rounds, struct arrays *arrays, const struct shapes *shapes,
		    int count, double seconds)
{
	const double began = clock_now();
	struct timing taken;
	int k, round;

	memset(rounds, 0, sizeof(*rounds));
	kernels_begin(arrays);
	plan_done("rounds", 0, count);
	for (round = 0; round <= count; round++) {
		for (k = 0; k < KERNELS; k++) {
			taken = kernels_run(arrays, k, &shapes->of[k], round);
			if (k == READ)
				rounds->wrong_sums +=
					!kernels_sum_is_right(arrays, &shapes->of[k], round);
			if (k == WRITE)
				rounds->wrong_writes += !kernels_is_written(arrays, round);
			if (round) {
				rounds->host[k][round - 1] = taken.host;
				rounds->device[k][round - 1] = taken.device;
			}
		}
		rounds->count = round;
		plan_done("rounds", round, count);
		if (watchdog_signalled() ||
		    (round >= ROUNDS_LEAST && clock_now() - began > seconds))
			break;
	}
	plan_end();
	kernels_validate(arrays, rounds->count + 1);
}

static double least(const double *seconds, int count)
{
	double best = seconds[0];
	int i;

	for (i = 1; i < count; i++)
		best = seconds[i] < best ? seconds[i] : best;
	return best;
}

/* Of the shortest launches.  A device that worked for longer than time went on has a wrong clock.
 * One that worked for less waited for the host, or its clock is slow: the figure, which is by the
 * host's clock, can only be too low. */
static void judge_clocks(struct rounds *rounds, int k, const char *name)
{
	const double host = least(rounds->host[k], rounds->count);
	const double device = least(rounds->device[k], rounds->count);
	static const char text[] = "%s took %.3f ms by the host's clock, %.3f ms by that of '%s'";

	if (host < 20 * clock_tick())
		verdict_invalid(TOO_SHORT, "%s takes %.3g us: give larger arrays", kernel_names[k],
				1e6 * host);
	if (device > (1 + CLOCK_ERROR) * host)
		verdict_invalid(CLOCK, text, kernel_names[k], 1e3 * host, 1e3 * device, name);
	if (device >= (1 - AGREE) * host - LAUNCH)
		return;
	verdict_warn(CLOCKS_DIFFER, text, kernel_names[k], 1e3 * host, 1e3 * device, name);
	rounds->rates[k].is_bound = 1;
	rounds->rates[k].low = rounds->rates[k].high = 0;
}

void rounds_judge(struct rounds *rounds, const struct arrays *arrays)
{
	double gbs[ROUNDS_MOST];
	int k, i;

	if (rounds->wrong_sums)
		verdict_invalid(NOT_VALIDATED, "the sum of read is wrong in %d of %d rounds",
				rounds->wrong_sums, rounds->count + 1);
	if (rounds->wrong_writes)
		verdict_invalid(NOT_VALIDATED, "write did not arrive in %d of %d rounds",
				rounds->wrong_writes, rounds->count + 1);
	if (rounds->count < ROUNDS_LEAST)
		verdict_invalid(INCOMPLETE, "%d of %d rounds were measured", rounds->count,
				ROUNDS_LEAST);
	for (k = 0; k < KERNELS && rounds->count; k++) {
		for (i = 0; i < rounds->count; i++)
			gbs[i] = 1e-9 * kernels_bytes(arrays, k) / rounds->host[k][i];
		rate_of(&rounds->rates[k], gbs, NULL, rounds->count);
		judge_clocks(rounds, k, arrays->card->name);
	}
}
