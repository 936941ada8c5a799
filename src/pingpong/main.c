#include "../harness/elementary.h"
#include "exchanges.h"
#include "figures.h"
#include "links.h"
#include "messages.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/pinning.h"
#include "../harness/job/ranks.h"
#include "../harness/job/record_file.h"
#include "../harness/job/watchdog.h"
#include "../harness/json.h"
#include "../harness/machine/memory_available.h"
#include "../harness/metrics.h"
#include "../harness/openmp.h"
#include "../harness/program.h"

static const struct reason reasons[] = {
	[SAME_CORE - REASONS] = { "same-core", WRONG, EITHER, "both CPUs belong to one core" },
	[SLOW_TRANSPORT_FOUND - REASONS] = { "slow-transport", IMPRECISE, HARMED,
					     "messages take ten times what shared memory takes" },
	{ 0 },
};

/* Seconds per pair: of a few; the least that a figure needs; of links
 * between nodes likewise. */
static const double BUDGET = 0.1, BUDGET_LEAST = 0.02;
/* Of a matrix, which has 110,016 figures of 192 cores: 2 s in all, or half a millisecond for each,
 * eleven blocks of 20 us and as many to warm up; at most 3 ms, when most pairs have settled. */
static const double MATRIX_LEAST = 2, MATRIX_EACH = 0.0005, MATRIX_EACH_MOST = 0.003;
#ifdef MEMBW_MPI
static const double BUDGET_NODES = 0.05, MEMORY_SHARE_MOST = 0.95;
/* Of a large message, how often the fewest blocks of two looks send, fill and check it; the same
 * of a long look, behind its LONG_LOOK; B/s. */
static const double PASSES_LEAST = 800, PASSES_LONG = 150, SLOWEST = 1e9;
#endif

static struct {
	const char *pairs; /* as requested, NULL: the nearest and farthest of each class */
	double budget;
	int methods;       /* a bit for each, 0: all that this machine has */
	int class;         /* PAIR_CLASSES: whatever they are */
	const char *sizes; /* as requested, NULL: IMB's, between nodes two */
	int nodes;
} requested = { NULL, 0, 0, PAIR_CLASSES, NULL, 0 };

static void set_method(const char *option, const char *text)
{
	requested.methods = 1 << option_word(option, text, method_names, METHODS);
}

/* Each rank keeps its own links, and its own record. */
static void set_nodes(const char *option, const char *text)
{
	(void)option;
	(void)text;
	record_file_of_job(0);
}

static const struct option_row rows[] = {
	{ 0, "pairs", "LIST",
	  "pairs of CPUs, as in '0-1,0-13', or 'all': every pair of cores\n"
	  "(default: the nearest and the farthest pair of each class)",
	  .text = &requested.pairs },
	{ 0, "class", "NAME",
	  "the pairs must be of this class, or the run is INVALID: smt, llc, domain,\n"
	  "socket, node or remote: the innermost level that both CPUs share",
	  .word = &requested.class, .words = pair_class_names, .most = PAIR_CLASSES },
	{ 0, "method", "NAME", "only cas or lines (default: both)", .set = set_method },
	{ 0, "seconds", "S",
	  "at most S seconds for a pair, a method and a home\n"
	  "(default: 0.1; --nodes: 0.05; 'all': 2 s for all pairs together, or\n"
	  "0.5 ms for each if that is more)",
	  .number = &requested.budget, .most = 3600, .hint = "give seconds, as in 0.1" },
	{ 0, "sizes", "LIST",
	  "bytes of a message between two MPI ranks, as in '0,8,4194304'\n"
	  "(default: 0 and powers of two up to 4194304, as IMB; --nodes: 0, 4194304)",
	  .text = &requested.sizes, .list = &message_sizes, .most = SIZE_MOST,
	  .hint = "bytes of a message with commas between them, as 0,8,4194304; at most 64 "
		  "sizes, 1 GiB each" },
	{ 0, "nodes", NULL,
	  "one rank of MPI per node: every pair of nodes, in rounds of disjoint pairs;\n"
	  "with --json FILE each rank writes FILE.rank-N",
	  .flag = &requested.nodes, .set = set_nodes },
	{ 0 },
};

struct run {
	struct pairs pairs;
	struct meeting *meetings; /* pair by pair, method by method, home by home */
	const char **names;       /* of their figures */
	int width;                /* meetings of a pair */
	int is_matrix;            /* every pair of cores */
	int count;
};

static void write_run(const void *data)
{
	const struct run *run = data;
	int i;

#ifdef MEMBW_MPI
	if (ranks_together()) {
		if (requested.nodes)
			links_write();
		else
			exchanges_write();
		return;
	}
#endif
	json_open("pairs", '[');
	for (i = 0; i < run->count; i++)
		meeting_write(&run->meetings[i], run->names[i]);
	json_close(']');
}

static const struct program program = {
	"pingpong",
	"Measures how long a message takes from one core to another through shared memory:\n"
	"one way, in ns.  As two MPI ranks (make MPI=1; mpirun -n 2): how long an MPI message\n"
	"of each size takes, in us.\n",
	rows,
	reasons,
	NULL,
	write_run,
	.headline = NULL, /* the first: latency of the smallest message, of the nearest pair */
	.pins_itself = 1,
};

static void choose_pairs(struct run *run, const struct cpuset *cpus)
{
	const int all = requested.pairs && strcmp(requested.pairs, "all") == 0;

	run->is_matrix = all;
	if (all)
		pairs_all(&run->pairs, cpus);
	else if (requested.pairs)
		pairs_read(&run->pairs, "--pairs", requested.pairs, cpus);
	else
		pairs_default(&run->pairs, cpus);
	if (!run->pairs.count)
		die("this process may use only one CPU, but a pair needs two",
		    "'taskset -pc $$' prints its CPUs; OMP_PROC_BIND and OMP_PLACES limit them");
	if (!all && !ranks_together())
		pairs_within_a_node(&run->pairs, "--pairs", requested.pairs);
	if (!is_positive(requested.budget) && !all)
		requested.budget = BUDGET;
}

static void *room_for_pairs(const struct run *run, size_t size)
{
	return room_for((size_t)run->pairs.count, size, "pairs", "ask for fewer with '--pairs'");
}

static void prepare_meetings(struct run *run)
{
	int pair, method, home;

	run->meetings = room_for_pairs(run, METHODS * 2 * sizeof(*run->meetings));
	run->names = room_for_pairs(run, METHODS * 2 * sizeof(*run->names));
	for (pair = 0; pair < run->pairs.count; pair++)
		for (method = 0; method < METHODS; method++)
			for (home = 0; home < 2; home++) {
				struct meeting *const m = &run->meetings[run->count];

				if (requested.methods && !(requested.methods & 1 << method))
					continue;
				m->pair = run->pairs.list[pair];
				m->method = (enum method)method;
				m->home = home;
				run->names[run->count] = figure_name(m);
				run->count++;
			}
	run->width = run->count / run->pairs.count;
}

/* Of a run that is to end, the pairs that are left take no longer than a figure needs. */
static double seconds_now(double seconds)
{
	return watchdog_signalled() && seconds > BUDGET_LEAST ? BUDGET_LEAST : seconds;
}

static void meet(struct run *run)
{
	const double all = MATRIX_EACH * run->count,
		     end = clock_now() + (all > MATRIX_LEAST ? all : MATRIX_LEAST);
	int i;

	for (i = 0; i < run->count; i++) {
		const double share = (end - clock_now()) / (run->count - i);
		const double most = share < MATRIX_EACH_MOST ? share : MATRIX_EACH_MOST;

		shared_line_meet(&run->meetings[i],
				 seconds_now(requested.budget > 0 ? requested.budget : most));
	}
}

/* A matrix has thousands of figures: the median pair of each class, and
 * the one that is farthest apart. */
static void metrics_of_class(const struct run *run, int column, enum pair_class class)
{
	const struct meeting *any = NULL;
	double *const ns = room_for_pairs(run, sizeof(*ns));
	int pair, count = 0;

	for (pair = 0; pair < run->pairs.count; pair++) {
		const struct meeting *const m = &run->meetings[pair * run->width + column];

		if (m->pair.class != class)
			continue;
		any = m;
		ns[count++] = one_way_ns(m->blocks.round_trip.median);
	}
	if (any) {
		metric(class_figure_name(any, ""), median(ns, count), "ns", LOWER);
		metric(class_figure_name(any, "_most"), ns[count - 1], "ns", LOWER);
	}
	free(ns);
}

static void metrics_of_matrix(const struct run *run)
{
	int column, class;

	for (column = 0; column < run->width; column++)
		for (class = 0; class < PAIR_CLASSES; class++)
			metrics_of_class(run, column, (enum pair_class)class);
}

static void conclude(const struct run *run)
{
	int i;

	meetings_print_head(run->meetings, run->width);
	for (i = 0; i < run->count; i++) {
		const struct meeting *const m = &run->meetings[i];

		meeting_judge(m, run->names[i], requested.class);
		if (!run->is_matrix) {
			metric_of_time(&m->blocks, run->names[i], 1e9, "ns");
			metric_of_cpus(&m->pair, run->names[i], series_name(m));
		}
		if (i % run->width == 0)
			meetings_print_row(m, run->width);
	}
	if (run->is_matrix)
		metrics_of_matrix(run);
	meetings_print_notes(run->meetings, run->count);
}

static void measure_lines(struct run *run)
{
	if (requested.sizes)
		die("'--sizes %s': without MPI a message is always one line",
		    "build with MPI=1, then start two ranks: mpirun -n 2 ...", requested.sizes);
	prepare_meetings(run);
	program_measuring();
	meet(run);
	program_measured();
	pinning_judge_quota(2);
	conclude(run);
}

#ifdef MEMBW_MPI

static void refuse_for_ranks(void)
{
	if (requested.nodes && (requested.pairs || requested.class != PAIR_CLASSES))
		die("'--nodes' measures pairs of nodes, '--pairs' and '--class' pairs within a "
		    "node",
		    "leave them out");
	if (!requested.nodes && ranks_count() != 2)
		die("a pair needs two ranks, but there are %d",
		    "mpirun -n 2 ...; '--nodes' needs one rank per node", ranks_count());
	if (requested.methods)
		die("'--method' is for threads, but this is an MPI job",
		    "leave it out, or start the program without mpirun");
}

/* Each rank has a message to send and one to receive; MPI's own memory comes to that. */
static void refuse_more_than_memory(void)
{
	const size_t available = memory_available();
	const size_t largest = message_sizes.of[message_sizes.count - 1];
	const double bytes = 2.0 * ranks_on_node() * (double)largest;

	if (bytes > MEMORY_SHARE_MOST * (double)available)
		die("messages of %zu bytes need %.0f MiB on %s, but there are %.0f MiB of memory",
		    "leave out the largest of '--sizes'", largest, bytes / MIB, ranks_node(),
		    (double)available / MIB);
}

/* How long all sizes of a pair may take; then somebody hangs. */
static double longest_pair(void)
{
	double seconds = 0;
	int i;

	for (i = 0; i < message_sizes.count; i++) {
		const double pass = (double)message_sizes.of[i] / SLOWEST;
		const double usual = PASSES_LEAST * pass,
			     in_long = 2 * LONG_LOOK + PASSES_LONG * pass;

		seconds += 3 * requested.budget + (usual < in_long ? usual : in_long);
	}
	return EXCHANGE_TRIES * seconds;
}

static void measure_messages(struct run *run, const struct cpuset *cpus)
{
	const int pairs_most = run->pairs.count ? run->pairs.count : 1;
	int remote;

	ranks_meet(cpus, 1);
	if (!run->is_matrix && ranks_on_node() == 2)
		pairs_within_a_node(&run->pairs, "--pairs", requested.pairs);
	refuse_more_than_memory();
	remote = ranks_me() == 0 && strcmp(ranks_node(), ranks_node_of(1)) != 0;
	if (remote)
		exchanges_choose_remote(&run->pairs, cpus, requested.pairs != NULL);
	watchdog_limit(60 + pairs_most * longest_pair(), "in the ping-pong of MPI");
	program_measuring();
	if (ranks_me() == 0)
		exchanges_run(&run->pairs, requested.budget);
	else
		messages_follow(0);
	program_measured();
	pinning_judge_quota(ranks_on_node());
	if (ranks_me() > 0)
		leave(EXIT_VALID);
	ranks_are(0, 1); /* who reads records waits for those of all ranks */
	exchanges_conclude(requested.class);
}

static void measure_links(const struct cpuset *cpus)
{
	if (!is_positive(requested.budget))
		requested.budget = BUDGET_NODES;
	if (!requested.sizes)
		message_sizes = (struct numbers){ 2, { 0, 4194304 } };
	ranks_meet(cpus, 1);
	if (ranks_on_node() > 1)
		die("'--nodes' needs one rank per node, but %s has %d",
		    "srun --ntasks-per-node=1, mpirun --map-by node", ranks_node(),
		    ranks_on_node());
	refuse_more_than_memory();
	program_measuring();
	links_run(cpus, requested.budget);
	program_measured();
	pinning_judge_quota(ranks_on_node());
	links_conclude();
}

#endif

int main(int argc, char **argv)
{
	static struct run run;
	struct cpuset cpus;

	program_join(&argc, &argv);
	cpuset_of_thread(&cpus);
#ifdef MEMBW_MPI
	if (ranks_together()) {
		exchanges_cpus(&cpus);
		record_file_of_job(1);
	}
#endif
#ifdef _OPENMP
	/* idle threads would spin, and lower the turbo clock */
	omp_set_num_threads(ranks_together() ? 1 : 2);
#endif
	program_start(&program, argc, argv);
	if (requested.nodes && !ranks_together())
		die("'--nodes' needs one MPI rank per node, but this is a single process",
		    "make MPI=1, then srun or mpirun with two nodes or more");
#ifdef MEMBW_MPI
	if (ranks_together())
		refuse_for_ranks();
#endif
	if (!requested.nodes)
		choose_pairs(&run, &cpus);
#ifdef MEMBW_MPI
	if (requested.nodes)
		measure_links(&cpus);
	else if (ranks_together())
		measure_messages(&run, &cpus);
	else
#endif
		measure_lines(&run);
	leave(program_end(&run));
}
