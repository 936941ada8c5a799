#include "gather.h"

#ifdef MEMBW_MPI

#include "../../harness/clock.h"
#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/record_file.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"
#include "../output/print.h"
#include "../output/record.h"
#include "job_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct summary *summaries; /* on rank 0, of every rank */

static void note_reasons(struct summary *s)
{
	int r;

	s->detail_of = REASONS_MAX;
	for (r = 0; r < verdict_reasons(); r++) {
		const enum finding finding = verdict_finding(r);

		if (finding != NOT_FOUND)
			s->reasons[finding] |= 1u << r;
		if (finding == FOUND && (s->detail_of == REASONS_MAX || r == NOT_VALIDATED))
			s->detail_of = r;
	}
	if (s->detail_of < REASONS_MAX)
		snprintf(s->detail, sizeof(s->detail), "%s", verdict_detail(s->detail_of));
}

static void summarize_rank(struct summary *s, const struct run *run)
{
	int k;

	memset(s, 0, sizeof(*s));
	s->rank = ranks_me();
	s->arrived = 1;
	s->threads = threads_count();
	s->iterations = run->measurement.complete;
	for (k = 0; k < KERNELS; k++) {
		s->mbs[k] = run->measurement.kernel[k].best_mbs;
		s->node_mbs[k] = run->node.kernel[k].best_mbs;
	}
	note_reasons(s);
}

static void take(int rank, const void *summary)
{
	summaries[rank] = *(const struct summary *)summary;
}

/* How long rank 0 waits for summaries: where all was measured as long as for anything; after
 * giving up not much more than it took itself to get here. */
static double patience(double own_step)
{
	const double limit = ranks_limit(own_step);
	const double soon = own_step * LIMIT_STEPS > 1 ? own_step * LIMIT_STEPS : 1;

	return ranks_gave_up() && soon < limit ? soon : limit;
}

static void print_table(const struct run *run)
{
	const int all = run->job.kernel[0].best_mbs > 0;

	if (all)
		printf("All %d ranks together, in the time of the slowest of each iteration\n",
		       ranks_count());
	else if (run->measurement.complete > 1)
		printf("Rank 0 alone, %d iterations\n", run->measurement.complete);
	if (run->measurement.complete > 1)
		table_print(all ? &run->job : &run->measurement);
	if (all && options_peak() > 0) {
		printf("Node %s: ", ranks_node());
		table_peak(&run->node);
	}
	table_validation(&run->validation, &run->arrays);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 1 if all records stand in the file; else each rank's own one stays. */
static int hand_over_record(const struct run *run, double seconds)
{
	size_t size;
	char *text;
	int kept;

	if (!run->options.json)
		return 1;
	text = stream_record(run, &size);
	kept = ranks_hand_over(text ? text : "", size, seconds, record_file_gather,
			       record_file_publish);
	if (kept)
		record_file_drop();
	free(text);
	return kept;
}

static int lead(const struct run *run, double own_step)
{
	const double began = clock_now(), cpu = cpu_seconds();
	int rank, heard, kept = 0, valid;

	summaries = calloc((size_t)ranks_count(), sizeof(*summaries));
	if (!summaries)
		die("no memory for '%d' ranks", "start fewer", ranks_count());
	for (rank = 0; rank < ranks_count(); rank++)
		summaries[rank].rank = rank;
	summarize_rank(&summaries[0], run);
	heard = ranks_gather(NULL, sizeof(*summaries), patience(own_step), take);
	if (heard < ranks_count())
		ranks_give_up("a rank did not answer");
	if (!ranks_gave_up())
		kept = hand_over_record(run, patience(own_step));
	print_table(run);
	summary_print(summaries, ranks_count(), &run->options, ranks_node_of);
	printf("Collected %d ranks in %.4f s, %.4f s of rank 0's CPU time\n", heard,
	       clock_now() - began, cpu_seconds() - cpu);
	if (!kept && run->options.json)
		printf("Records: one of each rank, %s.rank-N\n", run->options.json);
	valid = summary_verdict(summaries, ranks_count(), &run->options, ranks_node_of,
				ranks_gave_up());
	return valid && kept ? EXIT_VALID : EXIT_INVALID;
}

int gather(const struct run *run, int recorded, double own_step)
{
	static struct summary mine; /* static: it may be under way when this returns */

	if (ranks_me() == 0)
		return lead(run, own_step) == EXIT_VALID && recorded ? EXIT_VALID : EXIT_INVALID;
	summarize_rank(&mine, run);
	ranks_gather(&mine, sizeof(mine), patience(own_step), NULL);
	if (!ranks_gave_up())
		hand_over_record(run, 2 * ranks_limit(own_step));
	return verdict_is_valid() && recorded ? EXIT_VALID : EXIT_INVALID;
}

#endif
