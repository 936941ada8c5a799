#include "../harness/elementary.h"
#include "constructs.h"
#include "delay.h"
#include "figures.h"
#include "measure.h"
#include "runtime.h"
#include "team.h"

#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/pinning.h"
#include "../harness/evidence/threads.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/program.h"

static const struct reason reasons[] = {
	[NEGATIVE_OVERHEAD - REASONS] = { "negative-overhead", WRONG, EITHER,
					  "the reference takes longer than the construct" },
	[FEWER_THREADS - REASONS] = { "fewer-threads", WRONG, HARMED,
				      "a team was smaller than requested" },
	[DELAY_OPTIMIZED_AWAY - REASONS] = { "delay-optimized-away", WRONG, EITHER,
					     "the compiler removed the work" },
	{ 0 },
};

/* Minutes later the same state reads a little else.  In parts of the construct's time;
 * docs/evidence.md has the launches. */
static const double LAUNCH_SPREAD = 0.04;

/* EPCC's delay: 0.1 us. */
static const double DELAY_SECONDS = 1e-7;

static struct {
	struct numbers teams; /* of threads */
	char *constructs;     /* 1 for each of the table that was requested; NULL: all */
	int pairs;
} requested = { { 0, { 0 } }, NULL, 61 };

struct run {
	struct overhead *overheads; /* team by team, construct by construct */
	struct figure *figures;
	int count;
};

/* Of a name that several have, as private by the size of its array, all. */
static int take_construct(const char *text, size_t length)
{
	int c, any = 0;

	for (c = 0; c < constructs_count; c++)
		if (strlen(constructs[c].name) == length &&
		    strncmp(constructs[c].name, text, length) == 0)
			requested.constructs[c] = any = 1;
	return any;
}

static void set_constructs(const char *option, const char *text)
{
	free(requested.constructs);
	requested.constructs =
		room_for((size_t)constructs_count, 1, "constructs", "free some memory");
	option_list(option, text, take_construct,
		    "give names from '--help', as in barrier,reduction");
}

static const struct option_row rows[] = {
	{ 0, "threads", "LIST",
	  "numbers of threads, as in '1,2,4' (default: 1, 2, 4, ... and OMP_NUM_THREADS\n"
	  "or the number of CPUs)",
	  .list = &requested.teams, .least = 1, .most = THREADS_MAX,
	  .hint = "give numbers of threads with commas, as in 1,2,4" },
	{ 0, "constructs", "LIST",
	  "only these, as in 'barrier,reduction' (default: all): parallel, for,\n"
	  "parallel_for, for_dynamic, for_dynamic_8, for_guided (64 iterations\n"
	  "per thread), barrier, barrier_late, single, critical, lock, atomic,\n"
	  "ordered, reduction, reduction_array, task, taskloop; private,\n"
	  "firstprivate, copyprivate, copyin (arrays of 8 bytes to 461 KiB)",
	  .set = set_constructs },
	{ 0, "pairs", "N", "pairs of construct and reference (default: 61)",
	  .count = &requested.pairs, .least = INTERVAL_SAMPLES, .most = PAIRS_MAX },
	{ 0 },
};

static void write_run(const void *data)
{
	const struct run *const run = data;
	int i;

	runtime_write();
	json_open("delay", '{');
	json_number("us", 1e6 * delay_seconds());
	json_count("steps", (unsigned long long)delay_steps());
	json_number("doubled", delay_doubled());
	json_close('}');
	json_positive("additions_per_cycle", overheads_additions(run->overheads, run->count));
	json_open("overheads", '[');
	for (i = 0; i < run->count; i++)
		figure_write(&run->figures[i], &run->overheads[i]);
	json_close(']');
}

static const struct program program = {
	"overheads",
	"Measures the overhead of each OpenMP construct: the time with the construct minus the\n"
	"time of the same work without it, measured in turn.\n",
	rows,
	reasons,
	NULL,
	write_run,
	.headline = "barrier_t*",
	.pins_itself = 1,
};

static void prepare_run(struct run *run)
{
	static const char hint[] = "ask for fewer with '--threads'";
	const size_t most = (size_t)(requested.teams.count * constructs_count);
	int t, c;

	run->overheads = room_for(most, sizeof(*run->overheads), "overheads", hint);
	run->figures = room_for(most, sizeof(*run->figures), "figures", hint);
	/* the least first: a runtime keeps the threads that it has, and ends those that it no
	 * longer needs */
	for (t = 0; t < requested.teams.count; t++)
		for (c = 0; c < constructs_count; c++)
			if (!requested.constructs || requested.constructs[c]) {
				struct overhead *const o = &run->overheads[run->count++];

				o->construct = &constructs[c];
				o->threads = (int)requested.teams.of[t];
				o->name = figure_name(o->construct, o->threads);
			}
}

static void measure_team(struct overhead *overheads, int count)
{
	threads_team(overheads->threads);
	team_start(overheads->threads);
	delay_calibrate(DELAY_SECONDS);
	overheads_measure(overheads, count, requested.pairs);
	threads_sample();
	pinning_judge();
}

/* One that a compiler has a formula for takes no longer for twice the steps. */
static void judge_delay(void)
{
	if (delay_doubled() < DELAY_DOUBLED)
		verdict_invalid(DELAY_OPTIMIZED_AWAY,
				"the delay takes %.2f times as long for twice the steps, not 2 "
				"times: the compiler replaced it by a formula",
				delay_doubled());
}

/* Where each pair of a construct was disturbed. */
static void judge_counts(const struct run *run)
{
	const char *first = NULL;
	int i, lacking = 0;

	for (i = 0; i < run->count; i++)
		if (!run->overheads[i].count && !lacking++)
			first = run->overheads[i].name;
	if (lacking)
		verdict_invalid(INCOMPLETE,
				"%d of %d overheads, the first is %s, have no undisturbed pair",
				lacking, run->count, first);
}

static void judge_steadiness(const struct run *run)
{
	const char *first = NULL;
	int i, unsteady = 0;

	for (i = 0; i < run->count; i++)
		if (!figure_is_steady(&run->figures[i], &run->overheads[i]) && !unsteady++)
			first = run->overheads[i].name;
	if (unsteady)
		verdict_warn(
			UNSTABLE,
			"%d of %d overheads, the first is %s, have no interval: it is wider than "
			"10 %% of the construct's time, or other processes disturbed most pairs",
			unsteady, run->count, first);
}

static void print_tables(const struct run *run)
{
	int i;

	for (i = 0; i < run->count; i++) {
		const struct overhead *const o = &run->overheads[i];

		if (i == 0 || run->overheads[i - 1].threads != o->threads)
			figures_print_head(o->threads);
		figure_print(&run->figures[i], o);
	}
	printf("*: no interval, it is too wide\n");
}

/* What costs nothing that can be measured has none: a metric is above 0. */
static void say_metrics(const struct run *run)
{
	int i;

	for (i = 0; i < run->count; i++) {
		const struct overhead *const o = &run->overheads[i];
		const struct figure *const f = &run->figures[i];

		if (!is_positive(f->overhead.median))
			continue;
		metric(o->name, f->overhead.median, "us", LOWER);
		metric_at(o->name, o->construct->name, AT_THREADS, o->threads);
		if (o->construct->bytes)
			metric_at(o->name, o->construct->name, AT_BYTES,
				  (double)o->construct->bytes);
		if (figure_is_steady(f, o) && !interference_is_loud())
			metric_interval(o->name, f->overhead.low - LAUNCH_SPREAD * f->with,
					f->overhead.high + LAUNCH_SPREAD * f->with);
		else
			metric_unknown(o->name);
	}
}

static void conclude(struct run *run)
{
	int i;

	judge_delay();
	for (i = 0; i < run->count; i++) {
		figure_of(&run->figures[i], &run->overheads[i]);
		figure_judge(&run->figures[i], &run->overheads[i]);
	}
	judge_counts(run);
	judge_steadiness(run);
	say_metrics(run);
	print_tables(run);
}

int main(int argc, char **argv)
{
	static struct run run;
	int t;

	program_start(&program, argc, argv);
	if (!requested.teams.count)
		numbers_double(&requested.teams, threads_most());
	prepare_run(&run);
	threads_team((int)requested.teams.of[requested.teams.count - 1]);
	printf("OpenMP's overheads: %s %s, wait policy %s, a delay of %.2f us\n", runtime_name(),
	       runtime_version(),
	       getenv("OMP_WAIT_POLICY") ? getenv("OMP_WAIT_POLICY") : "default",
	       1e6 * DELAY_SECONDS);
	program_measuring();
	for (t = 0; t < requested.teams.count; t++)
		measure_team(&run.overheads[t * (run.count / requested.teams.count)],
			     run.count / requested.teams.count);
	program_measured();
	conclude(&run);
	leave(program_end(&run));
}
