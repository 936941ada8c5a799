#include "../harness/config.h"

#include "record.h"
#include "staircase.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/machine/memory_available.h"
#include "../harness/memory/chase.h"
#include "../harness/memory/wide.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

enum { ROUNDS_LEAST = 3 };

/* Seconds of the whole run, and the part of them that the chases of three rounds may take. */
static const double SECONDS = 50, QUICK_SECONDS = 4, PLANNED = 0.6, QUICK_PLANNED = 0.8;

static int quick;
static const char *capped_by; /* what keeps the ladder from its full height; NULL: nothing */

static const struct option_row rows[] = {
	{ 0, "quick", NULL, "5 s at most: fewer sizes, latency in pages of 2 MiB only",
	  .flag = &quick },
	{ 0 },
};
static const struct option_row *const tables[] = { rows, NULL };

static const struct program program = {
	"ladder",
	"Measures latency and bandwidth of working sets from 4 KiB to eight times the last-level\n"
	"cache, and shows the levels of memory: sizes as measured and as declared.\n",
	tables,
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
	size_t most = rungs_most(declared->last), all, *const of = run->measuring.most;

	if (quick) {
		most /= 2;
		capped_by = "--quick";
	}
	all = (size_t)((double)most * declared->last_levels / l->threads) / 4096 * 4096;
	if (all > most)
		all = most;
	/* the first thread has memory for two chases */
	while (2 * most + (size_t)l->threads * all > available && most > (1 << 20)) {
		most /= 2;
		all /= 2;
		capped_by = "the memory available";
	}
	l->count = rungs_choose(l->bytes, declared, most, quick);
	of[READ_ONE] = of[TRIAD_ONE] = most;
	of[READ_ALL] = of[TRIAD_ALL] = l->threads > 1 ? all : most;
	of[LATENCY_2M] = rungs_in_time(l->bytes, l->count, ROUNDS_LEAST,
				       quick ? QUICK_PLANNED * QUICK_SECONDS : PLANNED * SECONDS);
	of[LATENCY_4K] = quick ? 0 : of[LATENCY_2M];
}

/* At least three rounds, and another where it will fit. */
static void measure(struct run *run, double began)
{
	const double limit = quick ? QUICK_SECONDS : SECONDS, from = clock_now();
	int rounds;

	do {
		measuring_round(&run->measuring);
		rounds = run->ladder.rounds;
	} while (rounds < ROUNDS_LEAST ||
		 (rounds < ROUNDS_MAX &&
		  clock_now() - began + (clock_now() - from) / rounds < limit));
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
	if (4 * m->unsettled > m->visits)
		verdict_warn(UNSTABLE, "%d of %d measurements did not settle within 3 %%",
			     m->unsettled, m->visits);
}

static void give_metric(const char *level, const char *what, double value, double low, double high,
			const char *unit, enum better better)
{
	const char *const name = metric_name("%s_%s", level, what);

	if (!(value > 0))
		return;
	metric(name, value, unit, better);
	metric_interval(name, low, high);
}

static void give_metrics(const struct run *run)
{
	static const char *const rates[POINTS] = { NULL,        NULL,       "read_one",
						   "triad_one", "read_all", "triad_all" };
	int i, p;

	for (i = 0; i < run->levels_count; i++) {
		const struct level *const level = &run->levels[i];
		char name[16];

		snprintf(name, sizeof(name), "%s", level_name(run->levels, i, &run->declared));
		name[0] = (char)(name[0] == 'L' ? 'l' : name[0]);
		if (!level->is_memory)
			give_metric(name, "size", level->bytes / 1024, level->low_bytes / 1024,
				    level->high_bytes / 1024, "KiB", HIGHER);
		give_metric(name, "latency", level->ns, level->low_ns, level->high_ns, "ns",
			    LOWER);
		for (p = READ_ONE; p < POINTS; p++)
			give_metric(name, rates[p], level->gbs[p], level->low_gbs[p],
				    level->high_gbs[p], "GB/s", HIGHER);
	}
}

static void print_residency(FILE *out, const struct run *run)
{
	const struct ladder *const l = &run->ladder;
	char text[SIZE_TEXT_MAX];
	double largest;
	int i, proven = -1;

	for (i = l->count - 1; i >= 0; i--)
		if (residency_at(i, l, run->levels, run->levels_count, &run->declared) ==
		    RESIDENCY_PROVEN)
			proven = i;
	if (proven >= 0)
		fprintf(out, "arrays of all threads together lie in memory from %s on: proven\n",
			size_text(text, (double)l->bytes[proven] * l->threads));
	else
		fprintf(out, "no size is proven to lie in memory\n");
	if (!residency_reaches(l, run->levels, run->levels_count, &run->declared, &largest))
		fprintf(out, "the ladder ends below 8 times the largest cache, %s%s%s\n",
			size_text(text, largest), capped_by ? ": " : "",
			capped_by ? capped_by : "");
}

static void print_head(FILE *out, const struct run *run)
{
	const struct ladder *const l = &run->ladder;
	char most[SIZE_TEXT_MAX], chased[SIZE_TEXT_MAX];

	fprintf(out,
		"ladder: %d thread%s, vectors of %d bits, %d sizes to %s,\nlatency to %s, %d "
		"rounds",
		l->threads, plural(l->threads), wide_bits(), l->count,
		size_text(most, (double)l->bytes[l->count - 1]),
		size_text(chased, (double)run->measuring.most[LATENCY_2M]), l->rounds);
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
	double began;

	program_start(&program, argc, argv);
	began = clock_now();
	declared_read(&run.declared, threads_seen(0)->cpu, threads_cpus());
	run.measuring.ladder = &run.ladder;
	run.measuring.is_quick = quick;
	run.ladder.threads = threads_count();
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
