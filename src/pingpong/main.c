#include "../harness/config.h"

#include "figures.h"

#include "../harness/error.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/openmp.h"
#include "../harness/program.h"

#include <stdlib.h>
#include <string.h>

static const char *const reasons[] = { "same-core", NULL };

/* Seconds per pair: of a few, and of a matrix, where 192 cores have 18,336 pairs; of a round
 * of pairs together, which all go on to the end. */
static const double BUDGET = 0.1, BUDGET_MATRIX = 0.003, BUDGET_TOGETHER = 0.02;

static struct {
	const char *pairs; /* as asked, NULL: the nearest and farthest of each class */
	double budget;
	int methods; /* a bit for each, 0: all that this machine has */
	int class;   /* PAIR_CLASSES: whatever they are */
	int together;
} asked = { NULL, 0, 0, PAIR_CLASSES, 0 };

static void set_pairs(const char *option, const char *text)
{
	(void)option;
	asked.pairs = text;
}

static void set_budget(const char *option, const char *text)
{
	asked.budget = option_number(option, text, 3600, "seconds, as 0.1");
}

static void set_class(const char *option, const char *text)
{
	asked.class = option_word(option, text, pair_class_names, PAIR_CLASSES);
}

static void set_method(const char *option, const char *text)
{
	const int method = option_word(option, text, method_names, METHODS);

	if (!method_is_possible((enum method)method))
		die("'%s %s': this CPU has no cycle counter of one rate (constant_tsc, "
		    "nonstop_tsc)",
		    "take cas or lines", option, text);
	asked.methods = 1 << method;
}

static void set_together(const char *option, const char *text)
{
	(void)option;
	(void)text;
	asked.together = 1;
}

static const struct option_row rows[] = {
	{ 0, "pairs", "LIST",
	  "pairs of CPUs, as '0-1,0-13', or 'all': every pair of cores\n"
	  "(default: the nearest and the farthest pair of each class)",
	  set_pairs },
	{ 0, "class", "NAME",
	  "the pairs must be of this class, or the run is INVALID: smt, llc, domain,\n"
	  "socket or node, the innermost thing that both CPUs belong to",
	  set_class },
	{ 0, "together", NULL,
	  "pairs without a CPU in common at the same time: those of --pairs, or all\n"
	  "pairs of cores in rounds (default: one after the other, the others asleep)",
	  set_together },
	{ 0, "method", "NAME",
	  "cas, lines or oneway alone (default: all; oneway by the cycle counter of x86)",
	  set_method },
	{ 0, "seconds", "S",
	  "at most so long for a pair, a method and a home\n"
	  "(default: 0.1; 'all': 0.003; --together: 0.02)",
	  set_budget },
	{ 0, NULL, NULL, NULL, NULL },
};
static const struct option_row *const tables[] = { rows, NULL };

struct run {
	struct pairs pairs;
	int first[CPUS_MAX + 1]; /* of each round of disjoint pairs */
	int rounds;
	struct meeting *meetings; /* pair by pair, method by method, home by home */
	const char **names;       /* of their figures */
	int width;                /* meetings of a pair */
	int count;
};

static void write_run(const void *data)
{
	const struct run *run = data;
	int i;

	json_truth("together", asked.together);
	json_open("pairs", '[');
	for (i = 0; i < run->count; i++)
		meeting_write(&run->meetings[i], run->names[i]);
	json_close(']');
}

static const struct program program = {
	"pingpong",
	"Measures how long a message takes from one core to another, through the memory that\n"
	"they share: one way, in ns.\n",
	tables,
	reasons,
	NULL,
	write_run,
};

/* The pairs that were asked for are one round. */
static void refuse_shared_cpus(struct run *run)
{
	struct cpuset taken;
	int i, side;

	cpuset_clear(&taken);
	for (i = 0; i < run->pairs.count; i++)
		for (side = 0; side < 2; side++) {
			const int cpu = run->pairs.list[i].cpu[side];

			if (cpuset_has(&taken, cpu))
				die("'--together' and '--pairs %s': CPU %d is in two pairs",
				    "give pairs without a CPU in common, or leave out --pairs",
				    asked.pairs, cpu);
			cpuset_add(&taken, cpu);
		}
	run->rounds = 1;
	run->first[1] = run->pairs.count;
}

static double default_budget(int is_matrix)
{
	if (asked.together)
		return BUDGET_TOGETHER;
	return is_matrix ? BUDGET_MATRIX : BUDGET;
}

static void choose_pairs(struct run *run, const struct cpuset *cpus)
{
	const int all = asked.pairs ? strcmp(asked.pairs, "all") == 0 : asked.together;

	if (all)
		run->rounds = pairs_all(&run->pairs, cpus, run->first);
	else if (asked.pairs)
		pairs_read(&run->pairs, "--pairs", asked.pairs, cpus);
	else
		pairs_default(&run->pairs, cpus);
	if (!run->pairs.count)
		die("this process may run on one CPU alone, and a pair takes two",
		    "'taskset -pc $$' prints its CPUs; OMP_PROC_BIND and OMP_PLACES narrow them");
	if (asked.together && !all)
		refuse_shared_cpus(run);
	if (!(asked.budget > 0))
		asked.budget = default_budget(all);
}

static void prepare_meetings(struct run *run)
{
	int pair, method, home;

	run->meetings = calloc((size_t)run->pairs.count * METHODS * 2, sizeof(*run->meetings));
	run->names = calloc((size_t)run->pairs.count * METHODS * 2, sizeof(*run->names));
	if (!run->meetings || !run->names)
		die("no memory for the times of %d pairs", "ask for fewer with '--pairs'",
		    run->pairs.count);
	for (pair = 0; pair < run->pairs.count; pair++)
		for (method = 0; method < METHODS; method++)
			for (home = 0; home < 2; home++) {
				struct meeting *const m = &run->meetings[run->count];

				if (asked.methods ? !(asked.methods & 1 << method)
						  : !method_is_possible((enum method)method))
					continue;
				m->pair = run->pairs.list[pair];
				m->method = (enum method)method;
				m->home = home;
				run->names[run->count] = figure_name(m, asked.together);
				run->count++;
			}
	run->width = run->count / run->pairs.count;
}

/* The same column of all pairs of a round. */
static void meet_round(struct run *run, int round, int column)
{
	static struct meeting *at_once[CPUS_MAX];
	int pair, count = 0;

	for (pair = run->first[round]; pair < run->first[round + 1]; pair++)
		at_once[count++] = &run->meetings[pair * run->width + column];
	shared_lines_meet(at_once, count, asked.budget);
}

static void meet(struct run *run)
{
	int i, round, column;

	if (!asked.together)
		for (i = 0; i < run->count; i++) {
			struct meeting *const alone = &run->meetings[i];

			shared_lines_meet(&alone, 1, asked.budget);
		}
	for (round = 0; asked.together && round < run->rounds; round++)
		for (column = 0; column < run->width; column++)
			meet_round(run, round, column);
}

static void conclude(const struct run *run)
{
	int i, stood = 1;

	for (i = 0; i < run->count; i++)
		stood &= meeting_stood_weather(&run->meetings[i]);
	if (stood)
		verdict_withdraw(DISTURBED);
	meetings_print_head(run->meetings, run->width);
	for (i = 0; i < run->count; i++) {
		const struct meeting *const m = &run->meetings[i];

		meeting_judge(m, run->names[i], asked.class);
		metric(run->names[i], one_way_ns(m->blocks.round_trip.median), "ns", LOWER);
		if (i % run->width == 0)
			meetings_print_row(m, run->width);
	}
	meetings_print_notes(run->meetings, run->count);
}

int main(int argc, char **argv)
{
	static struct run run;
	struct cpuset cpus;

	cpuset_of_thread(&cpus);
#ifdef _OPENMP
	omp_set_num_threads(2); /* bystanders would spin, and take the turbo of others */
#endif
	program_start(&program, argc, argv);
	choose_pairs(&run, &cpus);
	prepare_meetings(&run);
	program_pins_itself();
	program_measuring();
	meet(&run);
	program_measured();
	conclude(&run);
	return program_end(&run);
}
