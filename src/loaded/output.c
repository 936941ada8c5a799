#include "output.h"

#include "../harness/elementary.h"
#include "../harness/evidence/interference.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/order_statistics.h"
#include "../harness/signs.h"
#include "../harness/verdict.h"

/* Median latency of the rounds at a rate; 0 where fewer than half of them count. */
static double output_ns(const struct sweep *sweep, int mix, int rate)
{
	double ns[ROUNDS_MAX];
	int round, n = 0;

	for (round = 0; round < sweep->rounds; round++) {
		const struct point *const p = sweep_point(sweep, mix, rate, round);

		if (p)
			ns[n++] = p->m.ns;
	}
	return 2 * n > sweep->rounds ? median(ns, n) : 0;
}

/* The highest rate, and whether there is a knee. */
static void output_rest(const struct sweep *sweep, int mix)
{
	struct mix_figures f;

	sweep_figures(sweep, mix, &f);
	if (!is_positive(f.max_gbs.median)) { /* a signal came before its first window */
		printf("%8s  no curve\n", "-");
		return;
	}
	if (f.max_gbs.is_bound) {
		printf("  %s %.1f  no curve\n", sign(AT_LEAST), f.max_gbs.median);
		return;
	}
	printf("%8.1f  %s%s\n", f.max_gbs.median,
	       f.gbs_at_2x.median > 0 ? "saturated" : "not saturated",
	       2 * f.wave_forms > f.rounds ? ", falls under pressure" : "");
}

void output_print(const struct sweep *sweep)
{
	int i, r;

	printf("Latency in ns at a requested rate, in percent of the highest; highest GB/s\n"
	       "%-6s",
	       "mix");
	for (r = 0; r < RATES; r++)
		printf("%5.0f%%", 100 * sweep_rates[r]);
	printf("%8s\n", "GB/s");
	for (i = 0; i < sweep->mix_count; i++) {
		printf("%-6s", mixes[sweep->mixes[i]].name);
		for (r = 0; r < RATES; r++) {
			const double ns = output_ns(sweep, sweep->mixes[i], r);

			if (ns > 0)
				printf("%6.0f", ns);
			else
				printf("%6s", "-");
		}
		output_rest(sweep, sweep->mixes[i]);
	}
	printf("3r1w: three lines read for each written; nt: by non-temporal stores. GB/s are\n"
	       "counted: ordinary stores may read their lines, too (write-allocate). Saturated:\n"
	       "latency doubles (gbs_at_2x).\n");
}

/* Where other processes used the node a rate is a lower bound, and a latency has no interval. */
static void output_metric(const char *what, const struct mix *mix, const struct sweep_figure *f,
			  const char *unit, enum better better)
{
	const char *const name = mix ? metric_name("%s_%s", what, mix->name) : what;

	if (!is_positive(f->median))
		return;
	if (mix)
		metric_at(name, mix->nontemporal ? metric_name("%s_nt", what) : what,
			  AT_READ_SHARE, (double)mix->reads / (mix->reads + mix->writes));
	if (better == HIGHER) {
		const struct rate rate = { .value = f->median,
					   .low = f->low,
					   .high = f->high,
					   .is_bound = f->is_bound || interference_is_loud(),
					   .is_upper = verdict_finding(NOT_PROVEN) != NOT_FOUND };

		metric_rate(name, &rate, 1, unit);
		return;
	}
	metric(name, f->median, unit, better);
	if (!interference_is_loud() && f->low > 0)
		metric_interval(name, f->low, f->high);
	else if (mix) /* at half of a rate that may have been higher */
		metric_unknown(name);
	else
		metric_disturbed(name);
	if (verdict_finding(NOT_PROVEN) != NOT_FOUND)
		metric_too_good(name);
}

void output_metrics(const struct sweep *sweep)
{
	const struct sweep_figure idle = sweep_unloaded(sweep);
	struct mix_figures f;
	int i;

	output_metric("unloaded_ns", NULL, &idle, "ns", LOWER);
	for (i = 0; i < sweep->mix_count; i++) {
		const struct mix *const mix = &mixes[sweep->mixes[i]];

		sweep_figures(sweep, sweep->mixes[i], &f);
		output_metric("max_gbs", mix, &f.max_gbs, "GB/s", HIGHER);
		output_metric("ns_at_half", mix, &f.ns_at_half, "ns", LOWER);
		output_metric("gbs_at_2x", mix, &f.gbs_at_2x, "GB/s", HIGHER);
	}
}

static void output_write_point(const struct point *p)
{
	json_open(NULL, '{');
	json_text("mix", mixes[p->mix].name);
	json_number("part", sweep_rates[p->rate]);
	json_count("round", (unsigned)p->round);
	json_positive("requested_gbs", p->requested_gbs);
	json_number("gbs", p->m.gbs);
	json_number("ns", p->m.ns);
	json_number("unloaded_ns", p->unloaded_ns);
	json_number("least_generator_gbs", p->m.least_gbs);
	json_number("most_generator_gbs", p->m.most_gbs);
	json_number("least_cpu", p->m.least_cpu);
	json_count("windows", (unsigned)p->windows);
	json_truth("counts", p->counts);
	json_close('}');
}

void output_write(const struct sweep *sweep)
{
	int i;

	json_number("window_s", sweep->seconds);
	json_count("rounds", (unsigned)sweep->rounds);
	json_open("highest_gbs", '{');
	for (i = 0; i < sweep->mix_count; i++)
		json_number(mixes[sweep->mixes[i]].name, sweep->highest_gbs[sweep->mixes[i]]);
	json_close('}');
	json_open("points", '[');
	for (i = 0; i < sweep->count; i++)
		output_write_point(&sweep->points[i]);
	json_close(']');
}
