#include "../harness/elementary.h"
#include "generators.h"
#include "mixes.h"
#include "output.h"
#include "sweep.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/json.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_available.h"
#include "../harness/memory/placement.h"
#include "../harness/openmp.h"
#include "../harness/order_statistics.h"
#include "../harness/plural.h"
#include "../harness/program.h"
#include "../harness/residency/triads.h"
#include "../harness/verdict.h"

enum { GENERATORS_STOPPED = REASONS };
enum { CACHES = 4 };

/* From start to end. */
static const double SECONDS = 30, QUICK_SECONDS = 5;

static const struct reason reasons[] = {
	[GENERATORS_STOPPED -
	 REASONS] = { "generators-stopped", IMPRECISE, HARMED,
		      "the traffic stopped before the loads ended: no curve" },
	{ 0 },
};

static struct sweep sweep;
static int quick;
static char wanted[MIXES];
static int chain_mib;
static struct residency_found residency;
static struct placement placement_first, placement_last;

static int take_mix(const char *name, size_t length)
{
	const int m = mix_named(name, length);

	if (m >= 0)
		wanted[m] = 1;
	return m >= 0;
}

static void set_mixes(const char *option, const char *text)
{
	memset(wanted, 0, sizeof(wanted));
	option_list(option, text, take_mix, "some of 1r0w,3r1w,2r1w,1r1w,1r1nt");
}

static const struct option_row rows[] = {
	{ 0, "mixes", "LIST",
	  "traffic, as in '1r0w,2r1w' (default: all): 1r0w reads only; 3r1w, 2r1w\n"
	  "and 1r1w read 3, 2 or 1 lines for each line that they write; 1r1nt\n"
	  "writes by non-temporal stores",
	  .set = set_mixes },
	{ 0, "quick", NULL, "5 s in place of 30: reads, and 2r1w; windows of 0.02 s",
	  .flag = &quick },
	{ 0, "rounds", "N",
	  "how often each curve is measured (default: 3 to 5, as many as there is\n"
	  "time for)",
	  .count = &sweep.rounds, .least = 3, .most = ROUNDS_MAX },
	{ 0, "window", "S", "seconds of each point (default: 0.04, or 0.02)",
	  .number = &sweep.seconds, .most = 10, .hint = "give seconds, as in --window 0.04" },
	{ 0, "chain-mib", "N", "MiB of the chain (default: 256; more where a cache may hold that)",
	  .count = &chain_mib, .least = 1, .most = 1 << 20 },
	{ 0 },
};

static void write_loaded(const void *data)
{
	const struct sweep *const measured = data;

	json_count("chain_mib", (unsigned)chain_mib);
	json_count("generators", (unsigned)(threads_count() - 1));
	json_count("generator_mib", (unsigned)(generator_bytes() >> 20));
	json_text("chain_pages", chase_memory_has(sweep.chase.memory,
						  sweep.chase.lines * sweep.chase.line, CHASE_2M)
					 ? "2m"
					 : "4k");
	triads_write(&residency);
	output_write(measured);
	placement_write("placement_before", &placement_first);
	placement_write("placement_after", &placement_last);
}

static const struct program program = {
	"loaded",
	"Measures the latency of memory while other threads move memory at a constant rate.\n",
	rows,
	reasons,
	"GB/s",
	write_loaded,
	.headline = "unloaded_ns",
};

static void choose_mixes(void)
{
	int m, any = 0;

	for (m = 0; m < MIXES; m++)
		any += wanted[m];
	for (m = 0; m < MIXES; m++)
		if ((wanted[m] || (!any && (!quick || mix_is_quick(&mixes[m])))) &&
		    mix_is_here(&mixes[m]))
			sweep.mixes[sweep.mix_count++] = m;
	if (!sweep.mix_count)
		die("'1r1nt': no non-temporal stores on this CPU", "give another mix");
}

/* What was not given. */
static void choose_time(double began)
{
	if (!sweep.rounds) {
		sweep.rounds = quick ? 3 : 5;
		/* the check of what was written takes a second or two */
		sweep.until = began + (quick ? QUICK_SECONDS : SECONDS) * 0.9;
	}
	if (!is_positive(sweep.seconds))
		sweep.seconds = quick ? 0.02 : 0.04;
}

static size_t caches(void)
{
	struct llc llc;

	llc_find(&llc, threads_cpus(), NULL);
	return llc.bytes;
}

/* 5 s are too few to build a longer chain and go round it: of a shorter one than what is declared
 * nothing is proven. */
static void shorten_chain(void)
{
	const size_t most = 2 * (size_t)CHASE_USUAL;

	if (residency.bytes <= most || residency.known == RESIDENCY_PROVEN)
		return;
	residency.bytes = most;
	if (residency.known == RESIDENCY_DECLARED)
		residency.known = RESIDENCY_NOT_PROVEN;
}

/* From what size on memory is used is measured first; 256 MiB at least, so that its latency is
 * that of the ladder: page walks of a longer chain take longer. */
static void choose_chain(void)
{
	struct residency_request request = { .rule = CACHES * caches(),
					     .given = (size_t)chain_mib * MIB,
					     .declared = caches(),
					     .most = memory_available() / 2,
					     .seconds = quick ? QUICK_SECONDS : SECONDS / 3 };
	char what[64];

	if (!request.rule)
		request.rule = CHASE_USUAL;
	if (verdict_allows(ARRAY_TOO_SMALL))
		request.most = 0;
	triads_find(&residency, &request);
	if (quick && !chain_mib)
		shorten_chain();
	if (!chain_mib)
		chain_mib = (int)((residency.bytes > CHASE_USUAL ? residency.bytes : CHASE_USUAL) /
				  MIB);
	snprintf(what, sizeof(what), "a chain of %d MiB", chain_mib);
	triads_judge(&residency, &request, what);
}

/* The arrays of the generators together are as large as the chain, so that no line is still in a
 * cache when its turn comes again. */
static void make_memory(int generators)
{
	size_t each, all;

	choose_chain();
	each = (size_t)chain_mib / (size_t)generators + 1;
	each = each > 8 ? each : 8;
	all = ((size_t)chain_mib + 2 * each * (size_t)generators) * MIB;
	if (all > memory_available() / 5 * 4)
		die("chain and generators need %zu MiB, more than the memory available%s",
		    "use fewer threads, or a smaller '--chain-mib'", all / MIB,
		    memory_available_by());
	generators_make(generators, each * MIB);
	printf("A chain of %d MiB, %d generator%s of twice %zu MiB; it lies in memory: %s\n",
	       chain_mib, generators, plural(generators), each, triads_text(&residency));
}

static void touch_memory(void)
{
#pragma omp parallel
	if (omp_get_thread_num() == 0) {
		const size_t bytes = (size_t)chain_mib * MIB;

		chase_build(&sweep.chase, chase_memory(bytes, CHASE_2M), bytes, 1);
	} else {
		generator_touch(omp_get_thread_num() - 1);
	}
}

static void look_at_placement(struct placement *placement, const char *when)
{
	int g, written;

	placement_begin(placement);
	placement_sample(placement, sweep.chase.memory, sweep.chase.lines * sweep.chase.line,
			 &threads_seen(0)->affinity);
	for (g = 0; g < sweep.generators; g++)
		for (written = 0; written < 2; written++)
			placement_sample(placement, generator_memory(g, written),
					 generator_bytes(), &threads_seen(g + 1)->affinity);
	placement_judge(placement, when);
}

/* A curve without all its points is none; one point of a round may be missing, not most. */
static void judge_points(void)
{
	int i, bad = 0, first = -1;
	struct mix_figures f;

	for (i = 0; i < sweep.count; i++)
		if (!sweep.points[i].counts && !bad++)
			first = i;
	if (!bad)
		return;
	for (i = 0; i < sweep.mix_count; i++) {
		sweep_figures(&sweep, sweep.mixes[i], &f);
		if (!f.max_gbs.is_bound)
			continue;
		verdict_warn(GENERATORS_STOPPED,
			     "%d of %d points: a thread ran for %.0f %% of the window (%s at %.0f "
			     "%%): no curve of %s, and its highest rate is a lower bound",
			     bad, sweep.count, 100 * sweep.points[first].m.least_cpu,
			     mixes[sweep.points[first].mix].name,
			     100 * sweep_rates[sweep.points[first].rate],
			     mixes[sweep.mixes[i]].name);
	}
	verdict_warn(DISTURBED, "%d of %d points were disturbed in each window: left out", bad,
		     sweep.count);
}

/* Latency without traffic, at the beginning and at the end of the run. */
static void judge_drift(void)
{
	const int third = sweep.unloaded_count / 3;
	double first, last;

	if (third < INTERVAL_SAMPLES)
		return;
	first = median(sweep.unloaded_ns, third);
	last = median(sweep.unloaded_ns + sweep.unloaded_count - third, third);
	if (last > 1.1 * first || first > 1.1 * last)
		verdict_warn(UNSTABLE,
			     "the unloaded latency changed from %.1f to %.1f ns during the run",
			     first, last);
}

static void judge_rounds(void)
{
	if (sweep.rounds < ROUNDS_LEAST)
		verdict_invalid(INCOMPLETE, "no curve: %d of %d rounds were measured",
				sweep.rounds, ROUNDS_LEAST);
}

static void judge(void)
{
	look_at_placement(&placement_last, "after the measurement");
	if (!chase_is_right(&sweep.chase))
		verdict_invalid(NOT_VALIDATED, "the chain of loads ended at a wrong line");
	generators_validate();
	judge_points();
	judge_rounds();
	output_print(&sweep);
	output_metrics(&sweep);
	judge_drift();
}

int main(int argc, char **argv)
{
	const double began = clock_now();

	threads_at_least(2);
	program_start(&program, argc, argv);
	sweep.generators = threads_count() - 1;
	if (sweep.generators < 1)
		die("'%d' thread: one walks the chain, at least one more makes traffic",
		    "give OMP_NUM_THREADS=2 or more", threads_count());
	choose_time(began);
	choose_mixes();
	make_memory(sweep.generators);
	touch_memory();
	look_at_placement(&placement_first, "before the measurement");
	chase_walk(&sweep.chase, sweep.chase.lines);
	program_measuring();
	sweep_measure(&sweep);
	program_measured();
	judge();
	leave(program_end(&sweep));
}
