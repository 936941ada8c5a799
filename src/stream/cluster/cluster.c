#include "cluster.h"

#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/record_file.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"
#include "../output/print.h"
#include "../output/record.h"
#include "job_summary.h"

#ifdef MEMBW_MPI

/* A value and its complement: the smallest of both over all ranks say whether they are alike. */
static void must_be_alike(const struct options *o)
{
	static const char *const what[] = { "repetitions", "milliseconds at most", "array sizes",
					    "records requested" };
	const size_t own[] = { (size_t)o->ntimes, (size_t)(1000 * o->max_seconds), o->size,
			       options_json() != NULL };
	size_t least[SMALLEST_MOST];
	int i;

	for (i = 0; i < 4; i++) {
		least[2 * i] = own[i];
		least[2 * i + 1] = ~own[i];
	}
	ranks_smallest(least, 8);
	for (i = 0; i < 4; i++)
		if (least[2 * i] != ~least[2 * i + 1])
			die("the '%s' of the ranks differ, %zu here",
			    "give every rank the same options", what[i], own[i]);
}

void cluster_start(struct run *run)
{
	if (!ranks_together())
		return;
	ranks_limit_ask(run->options.limit);
	ranks_meet(threads_cpus(), threads_count());
	must_be_alike(&run->options);
}

/* All times of a measurement lie in one piece, kernel after kernel. */
void cluster_measured(struct run *run)
{
	struct measurement *m = &run->measurement, *node = &run->node, *job = &run->job;

	if (!ranks_together())
		return;
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

static void summarize_rank(struct summary *s, const struct run *run)
{
	int finding, k, r;

	memset(s, 0, sizeof(*s));
	s->threads = threads_count();
	for (k = 0; k < KERNELS; k++) {
		s->mbs[k] = run->measurement.kernel[k].best_mbs;
		s->node_mbs[k] = run->node.kernel[k].best_mbs;
	}
	for (finding = WARNED; finding <= ALLOWED; finding++)
		s->reasons[finding] = verdict_set((enum finding)finding);
	s->detail_of = REASONS_MAX;
	for (r = verdict_reasons() - 1; r >= 0; r--)
		if (verdict_finding(r) == FOUND && s->detail_of != NOT_VALIDATED)
			s->detail_of = r;
	if (s->detail_of < REASONS_MAX)
		snprintf(s->detail, sizeof(s->detail), "%s", verdict_detail(s->detail_of));
}

static void print_job(const struct run *run, unsigned found)
{
	printf("All %d ranks together; the slowest rank decides each iteration\n", ranks_count());
	table_print(&run->job, found);
	if (options_peak() > 0) {
		printf("Node %s: ", ranks_node());
		table_peak(&run->node);
	}
	table_validation(&run->validation, &run->arrays, table_is_printed(&run->job, found));
}

/* 1 if all records stand in the file; else each rank's own one stays. */
static int hand_over_record(const char *text, size_t size)
{
	const int kept =
		ranks_hand_over(text ? text : "", size, record_file_gather, record_file_publish);

	if (kept)
		record_file_drop();
	return kept;
}

/* Rank 0's word for all. */
static int print_summary_of(const struct run *run, struct summary *summaries, int kept)
{
	int rank;

	for (rank = 0; rank < ranks_count(); rank++) {
		summaries[rank].rank = rank;
		summaries[rank].node = ranks_node_of(rank);
	}
	print_job(run, summary_found(summaries, ranks_count()));
	summary_print(summaries, ranks_count());
	if (!kept)
		printf("Records: one of each rank, %s.rank-N\n", options_json());
	return summary_verdict(summaries, ranks_count());
}

/* This rank gave up: no more than it measured itself. */
static int report_alone(const struct run *run)
{
	printf("Rank %d alone, %d iterations\n", ranks_me(), run->measurement.complete);
	if (run->measurement.complete > 1) {
		table_rates(&run->measurement, "INVALID");
		putchar('\n');
	}
	table_validation(&run->validation, &run->arrays, 0);
	if (options_json())
		printf("Records: one of each rank that answered, %s.rank-N\n", options_json());
	printf("invalid: incomplete: %s\nVerdict: INVALID (incomplete)\n", ranks_gave_up());
	return EXIT_INVALID;
}

int cluster_report(struct run *run, double own_step)
{
	static struct summary own, *all; /* static: a gathering may be under way at the end */
	int recorded, kept, valid = verdict_is_valid();
	size_t size;
	char *text;

	if (!ranks_together())
		return report(run);
	text = stream_record(run, &size);
	recorded = !text || record_file_put(text, size);
	summarize_rank(&own, run);
	if (!ranks_me())
		all = room_for((size_t)ranks_count(), sizeof(*all), "ranks", "start fewer");
	if (!ranks_gather(&own, sizeof(own), all, own_step))
		return report_alone(run);
	kept = !options_json() || hand_over_record(text, size);
	free(text);
	if (ranks_me() == 0)
		valid = print_summary_of(run, all, kept);
	return valid && kept && recorded ? EXIT_VALID : EXIT_INVALID;
}

#endif
