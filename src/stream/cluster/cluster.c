#include "cluster.h"

#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/host_ranks.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/record_file.h"
#include "../../harness/job/watchdog.h"
#include "../../harness/verdict.h"
#include "../output/record.h"
#include "../output/report.h"
#include "../output/table.h"
#include "gather.h"

#include <stdlib.h>

static struct run *watched;

static void rescue(const char *text, size_t size)
{
	if (!text)
		return;
	if (ranks_me() > 0) {
		record_file_rescue(text, size);
	} else {
		record_file_restart();
		record_file_put(text, size);
	}
}

/* On disk, although nobody has checked the arrays. */
static void save_unchecked(struct run *run)
{
	size_t size;
	char *text;

	verdict_invalid(NOT_VALIDATED, "stopped by a signal before the arrays could be checked");
	text = stream_record(run, &size);
	rescue(text, size);
	free(text);
	verdict_withdraw(NOT_VALIDATED);
}

/* In the guard's thread, while the main thread is in a kernel. */
static void save_from_guard(void)
{
	struct run copy = *watched;

	measure_summarize(&copy.measurement, copy.arrays.size, 1);
	save_unchecked(&copy);
}

static void must_be_alike(size_t value, const char *what)
{
	if (ranks_smallest(value) != ranks_largest(value))
		die("the '%s' of the ranks differ, %zu here", "give every rank the same options",
		    what, value);
}

void cluster_start(struct run *run)
{
	watched = run;
	ranks_limit_ask(run->options.limit);
	guard_start(save_from_guard);
	if (ranks_count() == 1)
		return;
	ranks_agree(0);
	guard_limit(2 * ranks_limit(0), "for the ranks to meet");
	siblings_meet(threads_cpus(), threads_count());
	must_be_alike((size_t)run->options.ntimes, "repetitions");
	must_be_alike(run->options.size, "array sizes");
	must_be_alike(run->options.json != NULL, "records asked for");
}

void cluster_ready(struct run *run, double own_step)
{
	measure_prepare(&run->measurement, run->options.ntimes);
	if (ranks_count() > 1) {
		measure_prepare(&run->node, run->options.ntimes);
		measure_prepare(&run->job, run->options.ntimes);
	}
	ranks_agree(own_step);
	guard_limit(0, "");
}

void cluster_measured(struct run *run)
{
	if (ranks_count() > 1 &&
	    siblings_slowest(run->measurement.kernel[0].times, run->node.kernel[0].times,
			     run->job.kernel[0].times, KERNELS * run->measurement.ntimes)) {
		run->node.complete = run->job.complete = run->measurement.complete;
		measure_summarize(&run->node, run->arrays.size, siblings_count());
		measure_summarize(&run->job, run->arrays.size, ranks_count());
		measure_judge_peak(&run->node);
	}
	if (!guard_signalled())
		return;
	guard_noticed();
	save_unchecked(run);
}

int cluster_report(struct run *run, double own_step)
{
	size_t size;
	char *text;
	int status;

	run->checked = 1;
	guard_noticed();
	if (ranks_count() == 1 && !ranks_gave_up())
		return report(run);
	text = stream_record(run, &size);
	if (guard_signalled() && ranks_me() > 0)
		rescue(text, size);
	guard_limit(4 * ranks_limit(own_step) + 60, "for the results of the other ranks");
	status = ranks_me() == 0 ? collect_lead(run, text, size, own_step)
				 : collect_follow(run, text, size, own_step);
	free(text);
	return status;
}
