#include "figures.h"

#include "../harness/clock.h"
#include "../harness/evidence/interference.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "forces.h"

static const double UNSTABLE_SPREAD = 0.10;
/* Of the additions per cycle of one thread: two on one core have 0.5 (a speed-up of 1.1), those
 * with intermittent other processes 0.7 (1.86). */
static const double SHARED_CORE = 0.65;
/* Of accelerations on a device, in parts of the largest: thousands of roundings. */
static const double DEVICE_DIFFERENCE[PRECISIONS] = { 1e-3, 1e-9 };

static double serial_of(double speed_up, int threads)
{
	const double share = 1.0 / threads;

	return threads > 1 && speed_up > 0 ? (1 / speed_up - share) / (1 - share) : 0;
}

void figure_of(struct figure *f, const struct crew *crew, const struct crew *baseline, long bodies,
	       int rounds)
{
	double seconds[ROUNDS_MAX], ratios[ROUNDS_MAX], additions[ROUNDS_MAX];
	int round;

	memset(f, 0, sizeof(*f));
	for (round = 0; round < rounds; round++) {
		seconds[round] = crew->seconds[round];
		additions[round] = crew->additions[round];
		ratios[round] = baseline->seconds[round] / crew->seconds[round];
	}
	order_statistics(&f->seconds, seconds, rounds);
	order_statistics(&f->speed_up, ratios, rounds);
	f->additions = median(additions, rounds);
	f->gflops =
		1e-9 * FLOP_PER_INTERACTION * (double)bodies * (double)bodies / f->seconds.median;
	f->efficiency = crew->threads ? f->speed_up.median / crew->threads : 0;
	f->serial = serial_of(f->speed_up.median, crew->threads);
	f->serial_low = serial_of(f->speed_up.high, crew->threads);
	f->serial_high = serial_of(f->speed_up.low, crew->threads);
}

/* "4 threads", "4 threads of the device", "the device" */
static const char *crew_text(const struct crew *crew)
{
	static char text[64];

	if (!crew->threads)
		return "the device";
	snprintf(text, sizeof(text), "%d thread%s%s", crew->threads, plural(crew->threads),
		 crew->on_device ? " of the device" : "");
	return text;
}

static void judge_forces(const struct crew *crew, enum precision precision)
{
	if (crew->wrong)
		verdict_invalid(NOT_VALIDATED,
				"%s: %ld forces differ from those of the first run, the first is "
				"that of body %ld: 0x%llx, not 0x%llx",
				crew_text(crew), crew->wrong, crew->wrong_body, crew->found,
				crew->expected);
	if (crew->difference > DEVICE_DIFFERENCE[precision])
		verdict_invalid(NOT_VALIDATED,
				"%s: a force is off by %.2g of the largest, more than %.0e",
				crew_text(crew), crew->difference, DEVICE_DIFFERENCE[precision]);
}

/* Threads on cores of their own, as this machine knows them, do less per cycle than one alone. */
static int figure_shares_cores(const struct figure *f, const struct crew *crew,
			       const struct figure *baseline)
{
	return !crew->on_device && !crew->shared_core &&
	       f->additions < SHARED_CORE * baseline->additions;
}

void figure_judge(const struct figure *f, const struct crew *crew, const struct figure *baseline,
		  enum precision precision)
{
	judge_forces(crew, precision);
	if (crew->worked < crew->threads)
		verdict_invalid(THREADS_IDLE, "%d of %d threads worked", crew->worked,
				crew->threads);
	if (crew->not_offloaded)
		verdict_invalid(
			OFFLOAD_NOT_DONE,
			"%d of %d target regions ran on the host (a device for this build is "
			"missing, or the build has no code for it)",
			crew->not_offloaded, crew->runs);
	if (2 * crew->spoilt > f->seconds.count)
		verdict_warn(DISTURBED,
			     "%s: no interval: other processes disturbed %d of %d rounds",
			     crew_text(crew), crew->spoilt, f->seconds.count);
	if (figure_shares_cores(f, crew, baseline))
		verdict_warn(DISTURBED,
			     "%s: no interval: %.3g additions per cycle on one core, %.3g with "
			     "one thread: the host shares that core among the threads or with "
			     "other machines",
			     crew_text(crew), f->additions, baseline->additions);
	if (f->seconds.min < 20 * clock_tick())
		verdict_invalid(TOO_SHORT, "%s: a run took %s, under 20 ticks of the clock",
				crew_text(crew), seconds_text(f->seconds.min));
	if (order_statistics_spread(&f->speed_up) > UNSTABLE_SPREAD)
		verdict_warn(UNSTABLE,
			     "%s: no interval: the speed-up is between %.3g and %.3g, more than "
			     "%.0f %% off "
			     "the median",
			     crew_text(crew), f->speed_up.low, f->speed_up.high,
			     100 * UNSTABLE_SPREAD);
}

/* Most rounds of it were undisturbed, on cores of its own. */
static int figure_is_undisturbed(const struct figure *f, const struct crew *crew,
				 const struct figure *baseline)
{
	return 2 * crew->spoilt <= f->seconds.count && !figure_shares_cores(f, crew, baseline);
}

static const char *name_of(const char *what, const struct crew *crew)
{
	const char *name;

	if (!crew->threads)
		return metric_name("%s_device", what);
	name = metric_name("%s_%d", what, crew->threads);
	metric_at(name, what, AT_THREADS, crew->threads);
	return name;
}

/* The rate of the median: what other processes take can only make it less. */
static void rate_of_figure(struct rate *rate, const struct figure *f, int is_undisturbed)
{
	memset(rate, 0, sizeof(*rate));
	rate->value = f->gflops;
	rate->low = f->gflops * f->seconds.median / f->seconds.high;
	rate->high = f->gflops * f->seconds.median / f->seconds.low;
	rate->is_bound = !is_undisturbed || interference_is_loud() ||
			 order_statistics_spread(&f->seconds) > UNSTABLE_SPREAD;
}

void figure_metrics(const struct figure *f, const struct crew *crew, const struct figure *baseline,
		    const struct crew *baseline_crew)
{
	const int is_undisturbed =
		figure_is_undisturbed(f, crew, baseline) && !interference_is_loud();
	const char *name;
	struct rate rate;

	rate_of_figure(&rate, f, is_undisturbed);
	metric_rate(name_of("gflops", crew), &rate, 1, "GFlop/s");
	if (crew->threads == 1)
		return;
	name = name_of("speedup", crew);
	metric(name, f->speed_up.median, "x", HIGHER);
	if (is_undisturbed && figure_is_undisturbed(baseline, baseline_crew, baseline) &&
	    order_statistics_spread(&f->speed_up) <= UNSTABLE_SPREAD)
		metric_interval(name, f->speed_up.low, f->speed_up.high);
	else
		metric_unknown(name);
}

void figure_write(const struct figure *f, const struct crew *crew)
{
	json_open(NULL, '{');
	json_count("threads", (unsigned)crew->threads);
	json_truth("on_device", crew->on_device);
	json_number("time_s", f->seconds.median);
	json_number("time_low_s", f->seconds.low);
	json_number("time_high_s", f->seconds.high);
	json_number("speedup", f->speed_up.median);
	json_number("speedup_low", f->speed_up.low);
	json_number("speedup_high", f->speed_up.high);
	json_number("efficiency", f->efficiency);
	json_number("serial_fraction", f->serial);
	json_number("serial_fraction_low", f->serial_low);
	json_number("serial_fraction_high", f->serial_high);
	json_number("gflops", f->gflops);
	json_count("rounds", (unsigned)f->speed_up.count);
	json_count("runs", (unsigned)crew->runs);
	json_count("rounds_spoilt", (unsigned)crew->spoilt);
	json_number("additions_per_cycle", f->additions);
	json_count("threads_worked", (unsigned)crew->worked);
	json_number("force_difference", crew->difference);
	json_close('}');
}

void figures_print_head(void)
{
	printf("threads      time, s   speed-up    95 %% interval     efficiency  serial fraction "
	       "(interval)    GFlop/s\n");
}

void figure_print(const struct figure *f, const struct crew *crew)
{
	char threads[32];

	snprintf(threads, sizeof(threads), "%d", crew->threads);
	printf("%-10s %9s %10s  %8s .. %-8s %8.1f %%", crew->threads ? threads : "device",
	       number_text(f->seconds.median, 4), number_text(f->speed_up.median, 4),
	       number_text(f->speed_up.low, 4), number_text(f->speed_up.high, 4),
	       100 * f->efficiency);
	if (crew->threads > 1)
		printf("  %8.4f (%.4f .. %.4f)", f->serial, f->serial_low, f->serial_high);
	else
		printf("  %28s", "");
	printf(" %10s\n", number_text(f->gflops, 4));
}
