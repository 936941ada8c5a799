#include "output.h"

#include "judge.h"

#include "../harness/error.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/order_statistics.h"
#include "../harness/plural.h"

/* The ceilings around the multiplications of a run that count, in the middle; FIGURE: where in
 * struct ceiling it stands. */
static double median_ceiling(const struct run *run, size_t figure)
{
	static double values[SHAPES * REPETITIONS_MAX];
	int s, i, count = 0;

	for (s = 0; s < run->count; s++) {
		const struct shape *const of = &run->shapes[s];
		const int all = repetitions_clean(of) == 0;

		for (i = 0; i < of->count; i++)
			if (all || repetition_is_clean(of, i))
				memcpy(&values[count++],
				       (const char *)&of->repetitions[i].ceiling + figure,
				       sizeof(*values));
	}
	return median(values, count);
}

static void print_shape(const struct run *run, const struct shape *s)
{
	struct order_statistics share;
	struct rate rate;

	repetitions_share(&share, s);
	repetitions_rate(&rate, s);
	printf("%-6s %7zu %7zu %6d %8.3f %4d of %-4d %13s %7.1f %% (%.1f .. %.1f) %6d of %d\n",
	       shape_names[s->kind], s->m, s->k, s->calls, s->repetitions[0].workers.wall,
	       repetitions_clean(s), s->count, rate_text(&rate, 1), share.median, share.low,
	       share.high, shape_workers(s), run->threads);
}

void output_print(const struct run *run)
{
	int i;

	printf("C += A B, by %s\n", blas_text(&run->blas));
	printf("Attainable: %.1f GFlop/s, %d thread%s of %s",
	       median_ceiling(run, offsetof(struct ceiling, gflops)), run->threads,
	       plural(run->threads), ceiling_loop());
	if (ceiling_flops_per_cycle() > 0)
		printf(" at %.3g GHz, %.2f flop per cycle",
		       median_ceiling(run, offsetof(struct ceiling, ghz)),
		       ceiling_flops_per_cycle());
	printf("\nshape    m = n       k  calls  seconds  clean             GFlop/s  of "
	       "attainable    "
	       "       worked\n");
	for (i = 0; i < run->count; i++)
		print_shape(run, &run->shapes[i]);
}

static const char *const percent_names[SHAPES] = { "square_share", "k192_share" };

/* No interval is narrower: a minute later the memory of a host may be another one, as of STREAM.
 */
static const double WITHIN = 0.02;

static void shape_at(const struct shape *s, const char *name, const char *series)
{
	metric_at(name, series, AT_M, (double)s->m);
	metric_at(name, series, AT_N, (double)s->n);
	metric_at(name, series, AT_K, (double)s->k);
}

static void shape_metrics(const struct shape *s)
{
	static double gflops[REPETITIONS_MAX], percent[REPETITIONS_MAX];
	struct order_statistics share;
	struct rate rate;
	double least, most;
	int i;

	for (i = 0; i < s->count; i++) {
		gflops[i] = s->repetitions[i].gflops;
		percent[i] = s->repetitions[i].percent;
	}
	repetitions_rate(&rate, s);
	metric_rate(shape_names[s->kind], &rate, 1, "GFlop/s");
	metric_samples(shape_names[s->kind], gflops, s->count);
	repetitions_share(&share, s);
	least = (1 - WITHIN) * share.median;
	most = (1 + WITHIN) * share.median;
	metric(percent_names[s->kind], share.median, "%", HIGHER);
	if (repetitions_share_is_known(s))
		metric_interval(percent_names[s->kind], share.low < least ? share.low : least,
				share.high > most ? share.high : most);
	metric_samples(percent_names[s->kind], percent, s->count);
	shape_at(s, shape_names[s->kind], "gflops");
	shape_at(s, percent_names[s->kind], "share");
}

void output_metrics(const struct run *run)
{
	const double attainable = median_ceiling(run, offsetof(struct ceiling, gflops));
	int i;

	for (i = 0; i < run->count; i++)
		shape_metrics(&run->shapes[i]);
	metric("attainable", attainable, "GFlop/s", HIGHER);
	if (run->stated > 0)
		metric("attainable_share", 100 * attainable / run->stated, "%", HIGHER);
	if (median_ceiling(run, offsetof(struct ceiling, ghz)) > 0)
		metric("clock", median_ceiling(run, offsetof(struct ceiling, ghz)), "GHz", HIGHER);
	metric("slowest_core", 100 * median_ceiling(run, offsetof(struct ceiling, slowest)), "%",
	       HIGHER);
	if (shape_workers(&run->shapes[0]))
		metric("worked", shape_workers(&run->shapes[0]), "threads", HIGHER);
}

static void write_repetition(const struct shape *s, int i)
{
	const struct repetition *const r = &s->repetitions[i];

	json_open(NULL, '{');
	json_number("seconds", r->workers.wall);
	json_number("gflops", r->gflops);
	json_number("percent_of_attainable", r->percent);
	json_number("attainable_gflops", r->ceiling.gflops);
	json_number("ghz", r->ceiling.ghz);
	json_count("threads_worked", (unsigned)r->workers.count);
	json_number("cpu_s", r->workers.all);
	json_number("busiest_cpu_s", r->workers.most);
	json_number("kept_off_s", r->workers.ready);
	json_number("other_cpu_s", r->other_cpu_s);
	json_truth("clean", repetition_is_clean(s, i));
	json_close('}');
}

static void write_shape(const struct shape *s)
{
	int i;

	json_open(shape_names[s->kind], '{');
	json_count("m", s->m);
	json_count("n", s->n);
	json_count("k", s->k);
	json_count("calls", (unsigned)s->calls);
	json_number("flops", shape_flops(s));
	json_count("wrong_columns", s->wrong.columns);
	json_open("repetitions", '[');
	for (i = 0; i < s->count; i++)
		write_repetition(s, i);
	json_close(']');
	json_close('}');
}

void output_write(const void *data)
{
	const struct run *const run = data;
	int i;

	json_count("threads_requested", (unsigned)run->threads);
	blas_write(&run->blas);
	json_open("shapes", '{');
	for (i = 0; i < run->count; i++)
		write_shape(&run->shapes[i]);
	json_close('}');
	json_open("denominators", '{');
	json_open("stated", '{');
	json_number("gflops", run->stated > 0 ? run->stated : 0);
	json_text("source", run->stated > 0 ? "--stated" : NULL);
	json_close('}');
	json_open("attainable", '{');
	json_number("gflops", median_ceiling(run, offsetof(struct ceiling, gflops)));
	json_text("source", ceiling_loop());
	json_close('}');
	json_open("clock", '{');
	json_number("ghz", median_ceiling(run, offsetof(struct ceiling, ghz)));
	json_number("flops_per_cycle", ceiling_flops_per_cycle());
	json_number("nearest_flops_per_cycle", ceiling_nearest_flops_per_cycle());
	json_text("source", "a chain of additions, between the loops");
	json_close('}');
	json_close('}');
	ceiling_write();
}
