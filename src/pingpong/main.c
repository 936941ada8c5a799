#include "../harness/config.h"

#include "../harness/error.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/openmp.h"
#include "../harness/pairs/shared_line.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAME_CORE = REASONS };

static const char *const reasons[] = { "same-core", NULL };

/* A message that is faster than a line can travel was not sent: two cycles of 5 GHz per hop.
 * An interval wider than this is no figure. */
static const double FASTEST_NS = 0.4, UNSTABLE_SPREAD = 0.10;

/* Seconds per pair: of a few, and of a matrix, where 192 cores have 18,336 pairs. */
static const double BUDGET = 0.1, BUDGET_MATRIX = 0.003;

static struct {
	const char *pairs; /* as asked, NULL: the nearest and farthest of each class */
	double budget;
	int methods; /* a bit for each */
	int class;   /* PAIR_CLASSES: whatever they are */
} asked = { NULL, 0, 1 << METHOD_CAS | 1 << METHOD_LINES, PAIR_CLASSES };

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
	asked.methods = 1 << option_word(option, text, method_names, METHODS);
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
	{ 0, "method", "NAME", "cas or lines alone (default: both)", set_method },
	{ 0, "seconds", "S",
	  "at most so long for a pair, a method and a home\n(default: 0.1; 'all': 0.003)",
	  set_budget },
	{ 0, NULL, NULL, NULL, NULL },
};
static const struct option_row *const tables[] = { rows, NULL };

struct run {
	struct pairs pairs;
	struct meeting *meetings; /* pair by pair, method by method, home by home */
	int count;
};

static double one_way_ns(double round_trip)
{
	return round_trip / 2 * 1e9;
}

/* "cas_0_13_home_b": which of them is nearest of its class can be seen in the record. */
static const char *metric_name(const struct meeting *m)
{
	char *name = malloc(64);

	if (!name)
		die("no memory for the name of a metric", "free some memory");
	snprintf(name, 64, "%s_%d_%d%s", method_names[m->method], m->pair.cpu[0], m->pair.cpu[1],
		 m->home ? "_home_b" : "");
	return name;
}

static void judge_class(const struct pair *pair)
{
	if (asked.class == PAIR_CLASSES || (int)pair->class == asked.class)
		return;
	if (pair->class == PAIR_SMT)
		verdict_invalid((enum reason)SAME_CORE, "CPUs %d and %d are one core",
				pair->cpu[0], pair->cpu[1]);
	else
		verdict_invalid(CPU_NOT_WHERE_ASKED, "CPUs %d and %d are of class %s, not %s",
				pair->cpu[0], pair->cpu[1], pair_class_names[pair->class],
				pair_class_names[asked.class]);
}

static void judge_place(const struct meeting *m)
{
	int side;

	for (side = 0; side < 2; side++) {
		const int cpu = m->pair.cpu[side];
		char list[CPU_LIST_MAX];

		if (cpuset_count(&m->mask[side]) != 1 || !cpuset_has(&m->mask[side], cpu))
			verdict_invalid(CPU_NOT_WHERE_ASKED,
					"a thread for CPU %d may run on CPUs %s", cpu,
					cpuset_format(&m->mask[side], list));
		if (m->seen[side] >= 0)
			verdict_invalid(CPU_NOT_WHERE_ASKED,
					"a thread for CPU %d was seen on CPU %d", cpu,
					m->seen[side]);
	}
	judge_class(&m->pair);
	if (m->domain >= 0 && m->domain != topology_domain(m->pair.cpu[m->home]))
		verdict_invalid(MEMORY_NOT_WHERE_ASKED,
				"the lines of CPU %d lie on NUMA domain %d, not on its own, %d",
				m->pair.cpu[m->home], m->domain,
				topology_domain(m->pair.cpu[m->home]));
}

static void judge_time(const struct meeting *m)
{
	const struct order_statistics *s = &m->blocks.round_trip;
	const char *const name = metric_name(m);

	if (m->wrong)
		verdict_invalid(NOT_VALIDATED,
				"%s: %llu of %llu turns carried something else, the first was "
				"turn %llu",
				name, m->wrong, m->turns, m->wrong_at);
	if (m->blocks.shortest < 20 * clock_tick())
		verdict_invalid(TOO_SHORT, "%s: a block took %.3g s, under 20 ticks of the clock",
				name, m->blocks.shortest);
	if (one_way_ns(s->median) < FASTEST_NS)
		verdict_invalid(TOO_GOOD, "%s reads %.2g ns: no line travels so fast", name,
				one_way_ns(s->median));
	if (order_statistics_spread(s) > UNSTABLE_SPREAD)
		verdict_invalid(UNSTABLE,
				"%s: the median's interval is %.3g .. %.3g ns, more than %.0f %% "
				"off the median",
				name, one_way_ns(s->low), one_way_ns(s->high),
				100 * UNSTABLE_SPREAD);
}

static void write_meeting(const struct meeting *m)
{
	const struct blocks *b = &m->blocks;

	json_open(NULL, '{');
	json_text("metric", metric_name(m));
	json_text("method", method_names[m->method]);
	json_count("cpu_a", (unsigned long long)m->pair.cpu[0]);
	json_count("cpu_b", (unsigned long long)m->pair.cpu[1]);
	json_text("class", pair_class_names[m->pair.class]);
	json_text("home", m->home ? "b" : "a");
	json_number("domain", m->domain);
	json_number("median_ns", one_way_ns(b->round_trip.median));
	json_number("low_ns", one_way_ns(b->round_trip.low));
	json_number("high_ns", one_way_ns(b->round_trip.high));
	json_number("min_ns", one_way_ns(b->round_trip.min));
	json_number("p10_ns", one_way_ns(b->round_trip.p10));
	json_number("p90_ns", one_way_ns(b->round_trip.p90));
	json_number("max_ns", one_way_ns(b->round_trip.max));
	json_count("blocks", (unsigned long long)b->count);
	json_count("trips", (unsigned long long)b->trips);
	json_truth("settled", b->settled);
	if (b->regimes.count == 2) {
		json_open("regimes", '{');
		json_number("lower_ns", one_way_ns(b->regimes.median[0]));
		json_number("upper_ns", one_way_ns(b->regimes.median[1]));
		json_number("share_upper", b->regimes.share_upper);
		json_close('}');
	}
	json_close('}');
}

static void write_run(const void *data)
{
	const struct run *run = data;
	int i;

	json_open("pairs", '[');
	for (i = 0; i < run->count; i++)
		write_meeting(&run->meetings[i]);
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

static void choose_pairs(struct run *run, const struct cpuset *cpus)
{
	static int first[CPUS_MAX + 1];

	if (!asked.pairs)
		pairs_default(&run->pairs, cpus);
	else if (strcmp(asked.pairs, "all") == 0)
		pairs_all(&run->pairs, cpus, first);
	else
		pairs_read(&run->pairs, "--pairs", asked.pairs, cpus);
	if (!run->pairs.count)
		die("this process may run on one CPU alone, and a pair takes two",
		    "'taskset -pc $$' prints its CPUs; OMP_PROC_BIND and OMP_PLACES narrow them");
	if (!(asked.budget > 0))
		asked.budget =
			asked.pairs && strcmp(asked.pairs, "all") == 0 ? BUDGET_MATRIX : BUDGET;
}

static void meet(struct run *run)
{
	int pair, method, home;

	run->meetings = calloc((size_t)run->pairs.count * METHODS * 2, sizeof(*run->meetings));
	if (!run->meetings)
		die("no memory for the times of %d pairs", "ask for fewer with '--pairs'",
		    run->pairs.count);
	for (pair = 0; pair < run->pairs.count; pair++)
		for (method = 0; method < METHODS; method++)
			for (home = 0; home < 2; home++) {
				struct meeting *const m = &run->meetings[run->count];

				if (!(asked.methods & 1 << method))
					continue;
				m->pair = run->pairs.list[pair];
				m->method = (enum method)method;
				m->home = home;
				shared_line_meet(m, asked.budget);
				run->count++;
			}
}

static void tell(const struct meeting *m)
{
	const struct blocks *b = &m->blocks;

	printf("%3d - %-3d  %-6s  %-5s  %s  %8.1f  %8.1f .. %-8.1f %8.1f %8.1f", m->pair.cpu[0],
	       m->pair.cpu[1], pair_class_names[m->pair.class], method_names[m->method],
	       m->home ? "B" : "A", one_way_ns(b->round_trip.median),
	       one_way_ns(b->round_trip.low), one_way_ns(b->round_trip.high),
	       one_way_ns(b->round_trip.min), one_way_ns(b->round_trip.p90));
	if (b->regimes.count == 2)
		printf("  two regimes: %.1f and %.1f", one_way_ns(b->regimes.median[0]),
		       one_way_ns(b->regimes.median[1]));
	printf("\n");
}

static void conclude(const struct run *run)
{
	int i;

	printf("ns, one way; home: who touched the lines first; the interval is that of the "
	       "median, 95 %%\n  A - B    class   method home   median        interval"
	       "             min      p90\n");
	for (i = 0; i < run->count; i++) {
		const struct meeting *const m = &run->meetings[i];

		judge_place(m);
		judge_time(m);
		tell(m);
		metric(metric_name(m), one_way_ns(m->blocks.round_trip.median), "ns", LOWER);
	}
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
	program_pins_itself();
	program_measuring();
	meet(&run);
	program_measured();
	conclude(&run);
	return program_end(&run);
}
