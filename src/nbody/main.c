#include "bodies.h"
#include "energy.h"
#include "figures.h"
#include "measure.h"
#include "offload.h"

#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/json.h"
#include "../harness/plural.h"
#include "../harness/program.h"

static const struct reason reasons[] = {
	[THREADS_IDLE - REASONS] = { "threads-idle", WRONG, HARMED, "threads did no work" },
	[OFFLOAD_NOT_DONE - REASONS] = { "offload-not-done", WRONG, EITHER,
					 "the host did the work of the device" },
	[NO_BASELINE - REASONS] = { "no-baseline", WRONG, EITHER,
				    "no run of one thread to compare with" },
	{ 0 },
};

/* Of what is rounded in a sum over all bodies, and in steps of the small system. */
static const double MOMENTUM_LIMIT[PRECISIONS] = { 1e-4, 1e-6 };
static const double ENERGY_LIMIT[PRECISIONS] = { 1e-4, 1e-5 };

/* A team on the host may be joined by the device. */
enum { CREWS_MAX = NUMBERS_MAX + 1, BODIES_MOST = 1 << 24 };

static struct {
	struct numbers teams; /* of threads */
	int precision;        /* enum precision */
	int offload;
	int bodies;     /* 0: by the time of one thread */
	double seconds; /* of a run of one thread; 0: by the threads */
	int rounds;
} requested = { { 0, { 0 } }, DOUBLE, 0, 0, 0, 15 };

struct run {
	struct crew crews[CREWS_MAX];
	struct figure figures[CREWS_MAX];
	int count;
	struct bodies bodies;
	double momentum, energy, fixed;
};

static const struct option_row rows[] = {
	{ 0, "threads", "LIST",
	  "numbers of threads, as in '1,2,4' (default: 1, 2, 4, ... and OMP_NUM_THREADS\n"
	  "or the number of CPUs); speed-ups are relative to 1, which must be there",
	  .list = &requested.teams, .least = 1, .most = THREADS_MAX,
	  .hint = "give numbers of threads with commas, as in 1,2,4" },
	{ 0, "precision", "TYPE", "float or double (default)", .word = &requested.precision,
	  .words = precision_names, .most = PRECISIONS },
	{ 0, "bodies", "N",
	  "rounded up to 16 for each thread (default: one thread takes --seconds)",
	  .count = &requested.bodies, .least = GROUP, .most = BODIES_MOST },
	{ 0, "seconds", "S",
	  "time of a run of one thread (default: 0.01 for each thread, at most 1)",
	  .number = &requested.seconds, .most = 3600,
	  .hint = "give seconds of one thread, as in 0.1" },
	{ 0, "rounds", "N", "runs of each count of threads (default: 15)",
	  .count = &requested.rounds, .least = INTERVAL_SAMPLES, .most = ROUNDS_MAX },
	{ 0, "offload", NULL,
	  "on a device, by 'omp target', compared with one thread of the host, or\n"
	  "with the numbers of --threads",
	  .flag = &requested.offload },
	{ 0 },
};

static void write_run(const void *data)
{
	const struct run *const run = data;
	int i;

	json_text("mode", requested.offload ? "offload" : "host");
	json_text("precision", precision_names[requested.precision]);
	json_count("bodies", (unsigned long long)run->bodies.count);
	json_number("momentum", run->momentum);
	json_number("energy_drift", run->energy);
	if (requested.offload) {
		json_number("devices", offload_devices());
		json_number("offload_fixed_s", run->fixed);
	}
	json_open("scaling", '[');
	for (i = 0; i < run->count; i++)
		figure_write(&run->figures[i], &run->crews[i]);
	json_close(']');
}

static const struct program program = {
	"nbody",
	"Measures how a computation of all pairs of bodies scales with the threads of a node:\n"
	"speed-up over one thread of the same run, serial fraction, GFlop/s.\n",
	rows,
	reasons,
	NULL,
	write_run,
	.headline = "speedup_*",
	.pins_itself = 1,
};

static void add_crew(struct run *run, int threads, int on_device)
{
	struct crew *const crew = &run->crews[run->count];

	crew->threads = threads;
	crew->on_device = on_device;
	run->count++;
}

/* The baseline first. */
static void choose_crews(struct run *run, int most)
{
	const int all_on_device = requested.offload && requested.teams.count;
	int t;

	if (!requested.teams.count)
		numbers_double(&requested.teams, requested.offload ? 1 : most);
	for (t = 0; t < requested.teams.count; t++)
		add_crew(run, (int)requested.teams.of[t], all_on_device);
	if (requested.offload && !all_on_device)
		add_crew(run, 0, 1);
}

static int most_on_host(const struct run *run)
{
	int i, most = 1;

	for (i = 0; i < run->count; i++)
		if (!run->crews[i].on_device && run->crews[i].threads > most)
			most = run->crews[i].threads;
	return most;
}

/* Short runs fit between other processes; those of all threads must be long compared with what it
 * takes to begin and to end them. */
static double seconds_by(int threads)
{
	const double seconds = 0.01 * threads;

	if (requested.seconds > 0)
		return requested.seconds;
	return seconds < 1 ? seconds : 1;
}

static long choose_bodies(int threads)
{
	const long piece = (long)GROUP * threads;

	if (!requested.bodies)
		return bodies_for(requested.precision, seconds_by(threads), threads);
	return (requested.bodies + piece - 1) / piece * piece;
}

static void judge_baseline(const struct run *run)
{
	if (run->crews[0].threads != 1)
		verdict_invalid(NO_BASELINE,
				"the smallest number of threads is %d: no run of one thread to "
				"compare with",
				run->crews[0].threads);
}

static void judge_physics(const struct run *run)
{
	if (run->momentum > MOMENTUM_LIMIT[requested.precision])
		verdict_invalid(NOT_VALIDATED,
				"the forces do not cancel: their sum is %.2g of the sum of their "
				"sizes, more than %.0e",
				run->momentum, MOMENTUM_LIMIT[requested.precision]);
	if (run->energy > ENERGY_LIMIT[requested.precision])
		verdict_invalid(NOT_VALIDATED,
				"the energy of a small system drifts by %.2g, more than %.0e",
				run->energy, ENERGY_LIMIT[requested.precision]);
}

static void conclude(struct run *run)
{
	int i;

	for (i = 0; i < run->count; i++) {
		figure_of(&run->figures[i], &run->crews[i], &run->crews[0], run->bodies.count,
			  requested.rounds);
		figure_judge(&run->figures[i], &run->crews[i], &run->figures[0],
			     requested.precision);
	}
	judge_baseline(run);
	judge_physics(run);
	printf("%ld bodies, %s, all pairs%s\n", run->bodies.count,
	       precision_names[requested.precision], requested.offload ? ", offloaded" : "");
	figures_print_head();
	for (i = 0; i < run->count; i++) {
		figure_print(&run->figures[i], &run->crews[i]);
		figure_metrics(&run->figures[i], &run->crews[i], &run->figures[0], &run->crews[0]);
	}
	if (requested.offload)
		printf("an empty offload takes %s\n", seconds_text(run->fixed));
}

int main(int argc, char **argv)
{
	static struct run run;
	int most;

	program_start(&program, argc, argv);
	choose_crews(&run, threads_most());
	most = most_on_host(&run);
	bodies_start(&run.bodies, requested.precision, choose_bodies(most));
	threads_team(most);
	program_measuring();
	requested.rounds = crews_measure(run.crews, run.count, &run.bodies, requested.rounds);
	if (requested.offload)
		run.fixed = offload_fixed_seconds(requested.precision, run.bodies.count);
	threads_team(most);
	program_measured();
	run.momentum = bodies_momentum(&run.bodies);
	run.energy = energy_drift(requested.precision);
	conclude(&run);
	leave(program_end(&run));
}
