#include "ceiling.h"

#include "loops.h"

#include "../../harness/clock.h"
#include "../../harness/error.h"
#include "../../harness/evidence/cpu_clock.h"
#include "../../harness/json.h"
#include "../../harness/openmp.h"
#include "../../harness/order_statistics.h"

#include <sched.h>

enum { PIECES = 100, PIECES_TO_CHOOSE = 40 };

static const double PIECE_LASTS = 100e-6;

struct ceiling_thread {
	double gflops, ghz;
	int cpu;
	double times[PIECES], clocks[PIECES];
};

static struct {
	const struct loop *loop;
	long turns; /* of a piece */
	int count;  /* of threads */
	struct ceiling_thread *threads;
	double *sorted; /* room for one figure of each thread */
	double flops_per_cycle;
	double most; /* GFlop/s of any measurement so far */
} ceiling_now;

static void run_pieces(struct ceiling_thread *thread, int pieces)
{
	int i;

	thread->cpu = sched_getcpu();
	for (i = 0; i < pieces; i++) {
		const double began = clock_now();

		loop_run(ceiling_now.loop, ceiling_now.turns);
		thread->times[i] = clock_now() - began;
		thread->clocks[i] = cpu_clock_ghz();
	}
	thread->gflops = 1e-9 * (double)ceiling_now.turns * ceiling_now.loop->flops /
			 median(thread->times, pieces);
	thread->ghz = median(thread->clocks, pieces);
}

/* Of all threads together. */
static double run_all(int pieces)
{
	double sum = 0;
	int t;

#pragma omp parallel num_threads(ceiling_now.count)
	run_pieces(&ceiling_now.threads[omp_get_thread_num()], pieces);
	for (t = 0; t < ceiling_now.count; t++)
		sum += ceiling_now.threads[t].gflops;
	return sum;
}

/* Turns that last a piece. */
static void set_turns(const struct loop *loop)
{
	double took = 0;

	ceiling_now.loop = loop;
	for (ceiling_now.turns = 64; took < PIECE_LASTS / 2; ceiling_now.turns *= 2) {
		const double began = clock_now();

		loop_run(loop, ceiling_now.turns);
		took = clock_now() - began;
	}
}

void ceiling_start(int threads)
{
	const size_t count = (size_t)threads;
	const struct loop *const *list;
	const struct loop *fastest = NULL;
	double most = 0;
	long turns = 0;
	int i, known;

	ceiling_now.count = threads;
	ceiling_now.threads =
		room_for(count, sizeof(*ceiling_now.threads), "threads", "start fewer");
	ceiling_now.sorted =
		room_for(count, sizeof(*ceiling_now.sorted), "threads", "start fewer");
	list = loops(&known);
	for (i = 0; i < known; i++) {
		double gflops;

		set_turns(list[i]);
		gflops = run_all(PIECES_TO_CHOOSE);
		if (gflops <= most)
			continue;
		most = gflops;
		fastest = list[i];
		turns = ceiling_now.turns;
	}
	ceiling_now.loop = fastest;
	ceiling_now.turns = turns;
}

void ceiling_measure(struct ceiling *ceiling)
{
	const int count = ceiling_now.count;
	double usual, cycles = 0;
	int t, slowest = 0;

	ceiling->gflops = run_all(PIECES);
	for (t = 0; t < count; t++) {
		ceiling_now.sorted[t] = ceiling_now.threads[t].gflops;
		if (ceiling_now.threads[t].gflops < ceiling_now.threads[slowest].gflops)
			slowest = t;
	}
	usual = median(ceiling_now.sorted, count);
	ceiling->slowest = ceiling_now.threads[slowest].gflops / usual;
	for (t = 0; t < count; t++)
		cycles += ceiling_now.sorted[t] = ceiling_now.threads[t].ghz;
	ceiling->per_cycle = cycles > 0 ? ceiling->gflops / cycles : 0;
	ceiling->ghz = median(ceiling_now.sorted, count);
	ceiling_now.flops_per_cycle = ceiling->ghz > 0 ? usual / ceiling->ghz : 0;
	if (ceiling->gflops > ceiling_now.most)
		ceiling_now.most = ceiling->gflops;
}

double ceiling_most(void)
{
	return ceiling_now.most;
}

const char *ceiling_loop(void)
{
	return ceiling_now.loop->name;
}

double ceiling_flops_per_cycle(void)
{
	return ceiling_now.flops_per_cycle;
}

double ceiling_nearest_flops_per_cycle(void)
{
	const double instruction = 2.0 * ceiling_now.loop->lanes;
	const int per_cycle = (int)(ceiling_now.flops_per_cycle / instruction + 0.5);

	return (per_cycle ? per_cycle : 1) * instruction;
}

void ceiling_write(void)
{
	int t;

	json_open("ceiling_threads", '[');
	for (t = 0; t < ceiling_now.count; t++) {
		json_open(NULL, '{');
		json_index("cpu", ceiling_now.threads[t].cpu);
		json_number("gflops", ceiling_now.threads[t].gflops);
		json_number("ghz", ceiling_now.threads[t].ghz);
		json_close('}');
	}
	json_close(']');
}
