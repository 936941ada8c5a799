/*
 * stream: a STREAM-compatible measurement of memory bandwidth that says
 * whether its figures are valid.
 */
#include "../harness/build/code.h"
#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/evidence/pinning.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/host_ranks.h"
#include "../harness/job/record_file.h"
#include "../harness/job/watchdog.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/memory_policy.h"
#include "../harness/program.h"
#include "array_size.h"
#include "cluster/cluster.h"
#include "health/floors.h"
#include "kernels/start_values.h"
#include "output/print.h"
#include "output/record.h"

/* From start to end; ranks of a job, which wait for each other, repeat for so long. */
static const double SECONDS_BY_HAND = 10;

static struct run run;

static void find_caches(void)
{
	struct cpuset domains;

	memory_policy_domains(&domains, threads_cpus());
	run.memory_side_bytes = domains_side_cache(&domains);
	llc_find(&run.llc, threads_cpus(), host_ranks_using);
	caches_judge(&run.llc);
	run.llc_bytes = run.llc.bytes ? run.llc.bytes : (size_t)LLC_ASSUMED_MIB * MIB;
	if (run.memory_side_bytes > run.llc.bytes) {
		run.llc_bytes = run.memory_side_bytes;
		run.llc.from = LLC_FROM_SYSFS;
	}
}

static double seconds_of_all(void)
{
	return floors_seconds() > 0 ? floors_seconds() : SECONDS_BY_HAND;
}

/* What is left for the repetitions: the check of the arrays takes about as long as their first
 * touch. */
static double seconds_left(double began, double touched)
{
	const double left = seconds_of_all() * 0.95 - (clock_now() - began) - touched;

	if (ranks_together())
		return SECONDS_BY_HAND;
	return left > seconds_of_all() / 10 ? left : seconds_of_all() / 10;
}

/* Returns the seconds that the first touch took. */
static double prepare(int argc, char **argv)
{
	char note[256];
	double began, touched;

	run.options = stream_options(&stream_program, argc, argv);
	watchdog_heed_ends();
	threads_start();
	code_judge();
	cluster_start(&run);
	threads_look();
	find_caches();
	record_file_open(options_json());
	size_choose(&run.options, &run.residency, run.llc_bytes, run.llc.from, seconds_of_all(),
		    note);
	ranks_barrier(0); /* each has read what memory is free before the first takes some */
	began = clock_now();
	arrays_create(&run.arrays, run.options.size, run.options.offset, run.options.pages);
	table_banner(&run.options, &run.residency, note);
	kernels_first_touch(&run.arrays);
	touched = clock_now() - began;
	hugepages_read(&run.pages, run.arrays.of[0],
		       arrays_bytes(run.options.size, run.options.offset), run.options.pages);
	arrays_place(&run.before, &run.arrays, "before the runs");
	table_kernels();
	ranks_barrier(clock_now() - began);
	return touched;
}

int main(int argc, char **argv)
{
	double began = clock_now(), touched;

	program_join(&argc, &argv);
	touched = prepare(argc, argv);
	interference_run_start();
	run.measurement.ntimes = run.options.ntimes;
	run.measurement.max_seconds = run.options.max_seconds;
	if (!run.options.ntimes && !is_positive(run.options.max_seconds))
		run.measurement.max_seconds = seconds_left(began, touched);
	/* with a requested number or time the repetitions so far are used */
	run.measurement.least = run.options.ntimes || floors_seconds() > 0
					? REPETITIONS_LEAST
					: REPETITIONS_OF_INTERVAL;
	run.measurement.caches = run.llc_bytes;
	measure(&run.measurement, &run.arrays);
	interference_run_stop(ranks_sum_on_host, ranks_count());
	measure_summarize(&run.measurement, run.arrays.size, 1);
	interference_judge();
	if (!run.options.ntimes) /* of a rank that gave up, another one is missing */
		run.options.ntimes =
			run.measurement.complete + (run.measurement.ended > ENDED_TIME);
	if (floors_leave_time_for(LOOK_read))
		looks_take(&run.looks, &run.measurement, &run.arrays, run.options.explain);
	began = clock_now();
	arrays_place(&run.after, &run.arrays, "after the runs");
	measure_judge(&run.measurement);
	looks_judge(&run.looks);
	host_ranks_judge();
	pinning_judge();
	cluster_measured(&run);
	validate_arrays(&run.validation, &run.arrays, run.measurement.passed);
	if (floors_leave_time_for(LOOK_write))
		looks_take_write(&run.looks, &run.measurement, &run.arrays);
	leave(cluster_report(&run, clock_now() - began));
}
