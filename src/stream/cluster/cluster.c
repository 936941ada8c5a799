#include "cluster.h"

#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/record_file.h"
#include "../../harness/job/watchdog.h"
#include "../../harness/verdict.h"
#include "../output/print.h"
#include "../output/record.h"
#include "gather.h"

#include <stdlib.h>

#ifdef MEMBW_MPI

static void must_be_alike(size_t value, const char *what)
{
	if (ranks_smallest(value) != ranks_largest(value))
		die("the '%s' of the ranks differ, %zu here", "give every rank the same options",
		    what, value);
}

void cluster_start(struct run *run)
{
	if (!ranks_together())
		return;
	ranks_limit_ask(run->options.limit);
	ranks_meet(threads_cpus(), threads_count());
	must_be_alike((size_t)run->options.ntimes, "repetitions");
	must_be_alike((size_t)(1000 * run->options.max_seconds), "milliseconds at most");
	must_be_alike(run->options.size, "array sizes");
	must_be_alike(run->options.json != NULL, "records asked for");
}

void cluster_ready(double own_step)
{
	if (ranks_together())
		ranks_barrier(own_step);
}

static int put_record(const struct run *run)
{
	size_t size;
	char *text = stream_record(run, &size);
	const int recorded = !text || record_file_put(text, size);

	free(text);
	return recorded;
}

/* All times of a measurement lie in one piece, kernel after kernel. */
static void judge_nodes(struct run *run)
{
	struct measurement *m = &run->measurement, *node = &run->node, *job = &run->job;

	measure_reserve(node, m->capacity);
	measure_reserve(job, m->capacity);
	if (!ranks_slowest(m->kernel[0].times, node->kernel[0].times, job->kernel[0].times,
			   KERNELS * m->capacity))
		return;
	node->complete = job->complete = m->complete;
	measure_summarize(node, run->arrays.size, ranks_on_node());
	measure_summarize(job, run->arrays.size, ranks_count());
	measure_judge_peak(node);
}

void cluster_measured(struct run *run)
{
	if (!ranks_together())
		return;
	judge_nodes(run);
	if (!ranks_gave_up())
		return;
	if (!run->measurement.complete && watchdog_signalled())
		leave(EXIT_INVALID); /* whoever ended the job has said why */
	verdict_invalid(NOT_VALIDATED, "stopped before the arrays could be checked: %s",
			ranks_gave_up());
	put_record(run);
	verdict_withdraw(NOT_VALIDATED);
}

int cluster_report(struct run *run, double own_step)
{
	run->checked = 1;
	if (!ranks_together())
		return report(run);
	return gather(run, put_record(run), own_step);
}

#else

void cluster_start(struct run *run)
{
	(void)run;
}

void cluster_ready(double own_step)
{
	(void)own_step;
}

void cluster_measured(struct run *run)
{
	(void)run;
}

int cluster_report(struct run *run, double own_step)
{
	(void)own_step;
	run->checked = 1;
	return report(run);
}

#endif
