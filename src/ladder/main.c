#include "../harness/elementary.h"
#include "record.h"
#include "staircase.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/memory_available.h"
#include "../harness/memory/chase.h"
#include "../harness/memory/wide.h"
#include "../harness/metrics.h"
#include "../harness/plan.h"
#include "../harness/plural.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

/* Seconds in which rounds begin or end, of 60 and of 5 in all; the part of them that the chases of
 * three rounds may take, or of two quick ones (three end in a cache); those of residency. */
static const double SECONDS = 52, QUICK_SECONDS = 4.3, PLANNED = 0.55, RESIDENCY = 10,
		    QUICK_RESIDENCY = 2;

static int quick;
static const char *capped_by; /* what keeps the ladder from its full height; NULL: nothing */

static const struct option_row rows[] = {
	{ 0, "quick", NULL, "5 s at most: fewer sizes, latency in pages of 2 MiB only",
	  .flag = &quick },
	{ 0 },
};

static const struct program program = {
	"ladder",
	"Measures latency and bandwidth of working sets from 4 KiB to eight times the last-level\n"
	"cache, and shows the levels of memory: sizes as measured and as declared.\n",
	rows,
	NULL,
	NULL,
	record_ladder,
	.has_table = 1,
	.headline = "*_latency",
};

/* All sizes that memory and time allow. */
static void plan(struct run *run)
{
	const struct declared *const declared = &run->declared;
	struct ladder *const l = &run->ladder;
	const size_t available = memory_available() / 5 * 4;
	const size_t begins =
		run->residency.begins ? run->residency.begins : run->residency.bytes / 2;
	size_t most = rungs_most(declared->last, begins), all, *const of = l->most;

	if (quick) {
		most /= 2;
		capped_by = "--quick";
	}
	all = (size_t)((double)most * declared->last_levels / l->threads) / 4096 * 4096;
	if (all > most)
		all = most;
	/* the first thread has memory for two chases */
	while (2 * most + (size_t)l->threads * all > available && most > MIB) {
		most /= 2;
		all /= 2;
		capped_by = "the memory available";
	}
	l->count = rungs_choose(l->bytes, declared, most, quick);
	of[READ_ONE] = of[TRIAD_ONE] = most;
	of[READ_ALL] = of[TRIAD_ALL] = l->threads > 1 ? all : most;
	of[LATENCY_2M] = rungs_in_time(l->bytes, l->count, quick ? 2 : ROUNDS_LEAST,
				       PLANNED * (quick ? QUICK_SECONDS : SECONDS));
	of[LATENCY_4K] = quick ? 0 : of[LATENCY_2M];
}

/* Three rounds, and another where it will fit; fewer where the time is over. */
static void measure(struct run *run, double began)
{
	const double until = began + (quick ? QUICK_SECONDS : SECONDS), from = clock_now();
	int rounds;

	plan_done("sizes", 0, ROUNDS_LEAST * run->ladder.count);
	do {
		if (!measuring_round(&run->measuring, until))
			break;
		rounds = run->ladder.rounds;
	} while (rounds < ROUNDS_LEAST ||
		 (rounds < ROUNDS_MAX && clock_now() + (clock_now() - from) / rounds < until));
	plan_end();
}

/* Where memory begins is measured first: no larger sizes are needed than show it. */
static void find_residency(struct run *run)
{
	const size_t caches = (size_t)((double)run->declared.last * run->declared.last_levels);
	struct residency_request request = { .rule = 12 * caches,
					     .declared = caches,
					     .most = memory_available() / 5 * 4,
					     .seconds = quick ? QUICK_RESIDENCY : RESIDENCY };

	if (!request.rule)
		request.rule = residency_reach(0, run->ladder.threads);
	triads_find(&run->residency, &request);
}

/* WHAT, by so many threads: a point of series WHAT without "_one" and "_all". */
static void give_metric(const char *level, const char *what, int threads, double value, double low,
			double high, const char *unit, enum better better)
{
	const char first = (char)(level[0] == 'L' ? 'l' : level[0]);
	const char *const name = metric_name("%c%s_%s", first, level + 1, what);
	const char *const series = metric_name("%.*s", (int)strcspn(what, "_"), what);

	if (!is_positive(value))
		return;
	metric(name, value, unit, better);
	metric_interval(name, low, high);
	metric_at_level(name, series, level);
	metric_at(name, series, AT_THREADS, threads);
}

/* Why memory is not shown for certain; NULL: it is. */
static const char *not_memory(const struct run *run)
{
	const struct level *const last =
		run->levels_count ? &run->levels[run->levels_count - 1] : NULL;
	int p;

	if (!triads_is_known(&run->residency))
		return "a larger cache may hold the largest sizes";
	for (p = READ_ONE; p < POINTS; p++)
		if (!last || !last->is_memory || !is_positive(last->of[p]))
			return "not all of the largest sizes were measured";
	return NULL;
}

static void judge(const struct run *run)
{
	const struct measuring *const m = &run->measuring;

	if (run->levels_count < 2)
		verdict_warn(UNSTABLE,
			     "fewer than two levels: latency is flat over no octave of sizes");
	if (10 * m->lost > m->visits)
		verdict_warn(DISTURBED,
			     "other processes left no undisturbed passes in %d of %d measurements",
			     m->lost, m->visits);
	if (not_memory(run))
		verdict_invalid(NOT_PROVEN, "memory is not shown for certain: %s",
				not_memory(run));
	if (4 * m->unsettled > m->visits)
		verdict_warn(UNSTABLE, "%d of %d measurements did not settle within 3 %%",
			     m->unsettled, m->visits);
}

/* Memory is what all of a node share. */
static void give_bound(const struct run *run, const char *name)
{
	if (interference_is_loud())
		metric_disturbed(name);
	if (!triads_is_known(&run->residency))
		metric_too_good(name);
}

static void give_metrics(const struct run *run)
{
	static const char *const figures[POINTS] = { "latency",   NULL,       "read_one",
						     "triad_one", "read_all", "triad_all" };
	int i, p;

	for (i = 0; i < run->levels_count; i++) {
		const struct level *const l = &run->levels[i];
		const char *const name = level_name(run->levels, i, &run->declared);

		if (!l->is_memory)
			give_metric(name, "size", 1, l->bytes / 1024, l->low_bytes / 1024,
				    l->high_bytes / 1024, "KiB", HIGHER);
		for (p = 0; p < POINTS; p++) {
			const int is_latency = p == LATENCY_2M;

			if (!figures[p])
				continue;
			give_metric(name, figures[p], p < READ_ALL ? 1 : run->ladder.threads,
				    l->of[p], l->low[p], l->high[p], is_latency ? "ns" : "GB/s",
				    is_latency ? LOWER : HIGHER);
			if (l->is_memory && l->of[p] > 0)
				give_bound(run, metric_name("%s_%s", name, figures[p]));
		}
	}
}

static void print_residency(FILE *out, const struct run *run)
{
	char text[SIZE_TEXT_MAX];

	if (run->residency.begins)
		fprintf(out, "memory begins at %s of all threads together: %s\n",
			size_text(text, (double)run->residency.begins),
			residency_word(run->residency.known));
	else
		fprintf(out, "where memory begins is not found: %s\n",
			residency_word(run->residency.known));
	if (not_memory(run))
		fprintf(out, "memory is not shown for certain: %s\n", not_memory(run));
	if (capped_by)
		fprintf(out, "fewer and smaller sizes: %s\n", capped_by);
	if (run->ladder.rounds < ROUNDS_LEAST)
		fprintf(out, "%d of %d rounds: the time was over\n", run->ladder.rounds,
			ROUNDS_LEAST);
}

static void print_head(FILE *out, const struct run *run)
{
	const struct ladder *const l = &run->ladder;
	char most[SIZE_TEXT_MAX], chased[SIZE_TEXT_MAX];

	fprintf(out,
		"ladder: %d thread%s, vectors of %d bits, %d sizes to %s,\nlatency to %s, %d "
		"round%s",
		l->threads, plural(l->threads), wide_bits(), l->count,
		size_text(most, (double)l->bytes[l->count - 1]),
		size_text(chased, (double)l->most[LATENCY_2M]), l->rounds, plural(l->rounds));
	if (run->measuring.clock_ghz > 0)
		fprintf(out, ", %.2f GHz", run->measuring.clock_ghz);
	putc('\n', out);
	if (!run->measuring.has[CHASE_2M])
		fprintf(out, "no pages of 2 MiB: latency includes page walks\n");
}

/* For the terminal, and for the record: who shows that shows the staircase too. */
static void print_ladder(struct run *run)
{
	size_t size;
	FILE *const out = open_memstream(&run->printed, &size);

	if (!out)
		die("no memory for the table", "free some memory");
	print_head(out, run);
	staircase_print(out, &run->ladder);
	levels_print(out, &run->ladder, run->levels, run->levels_count, &run->declared);
	print_residency(out, run);
	fclose(out);
	fputs(run->printed, stdout);
}

int main(int argc, char **argv)
{
	static struct run run;
	const double began = clock_now();

	program_start(&program, argc, argv);
	declared_read(&run.declared, threads_seen(0)->cpu, threads_cpus());
	run.measuring.ladder = &run.ladder;
	run.measuring.is_quick = quick;
	run.ladder.threads = threads_count();
	find_residency(&run);
	plan(&run);
	measuring_memory(&run.measuring);
	measuring_place(&run.before, "before");
	program_measuring();
	measure(&run, began);
	program_measured();
	measuring_place(&run.after, "after");
	run.levels_count = levels_find(run.levels, &run.ladder, &run.declared);
	judge(&run);
	print_ladder(&run);
	give_metrics(&run);
	leave(program_end(&run));
}
