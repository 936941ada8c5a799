#include "../../harness/config.h"

#include "gather.h"

#include "../../harness/clock.h"
#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/handshake.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/record_file.h"
#include "../../harness/job/watchdog.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"
#include "../output/table.h"
#include "job_summary.h"
#include "node_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef MEMBW_MPI

/* Records under way to rank 0 at a time: each is some KB of its memory. */
enum { WINDOW = 16 };

/* What rank 0 says to the others. */
static const int GIVE = 1, KEPT = 2, LEAVE = 3;

static struct summary *summaries;
static int *waiting, waits; /* ranks whose summary is in, and whose record is not */

static void note_reasons(struct summary *s)
{
	int r;

	s->detail_of = REASONS;
	for (r = 0; r < verdict_reasons(); r++) {
		const enum finding finding = verdict_finding((enum reason)r);

		s->found |= (unsigned)(finding == FOUND) << r;
		s->warned |= (unsigned)(finding == WARNED) << r;
		s->allowed |= (unsigned)(finding == ALLOWED) << r;
		if (finding == FOUND && (s->detail_of == REASONS || r == NOT_VALIDATED))
			s->detail_of = r;
	}
	if (s->detail_of < REASONS)
		snprintf(s->detail, sizeof(s->detail), "%s",
			 verdict_detail((enum reason)s->detail_of));
}

static void summarize(struct summary *s, const struct run *run)
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

static void hear_summary(int rank, const char *message, int length)
{
	if (length == (int)sizeof(*summaries)) {
		memcpy(&summaries[rank], message, sizeof(*summaries));
		waiting[waits++] = rank;
	}
}

/* How long rank 0 waits for summaries: where all was measured as long as for
 * anything; after giving up not much more than it took itself to get here. */
static double patience(double own_step)
{
	const double limit = ranks_limit(own_step);
	const double soon = own_step * LIMIT_TIMES > 1 ? own_step * LIMIT_TIMES : 1;

	return ranks_gave_up() && soon < limit ? soon : limit;
}

static void tell(int rank, const int *word)
{
	MPI_Request sent;

	MPI_Isend(word, 1, MPI_INT, rank, TAG_TALK, MPI_COMM_WORLD, &sent);
	MPI_Request_free(&sent);
}

/* One record, from whichever rank has sent one; 0 when none came in time. */
static int fetch_one(double seconds)
{
	const double start = clock_now();
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;
	int there = 0, size, kept = 0;
	char *line;

	while (!there && clock_now() - start < seconds && !guard_signalled()) {
		MPI_Improbe(MPI_ANY_SOURCE, TAG_RECORD, MPI_COMM_WORLD, &there, &message, &status);
		if (!there)
			ranks_nap(clock_now() - start);
	}
	if (!there)
		return 0;
	MPI_Get_count(&status, MPI_CHAR, &size);
	line = malloc((size_t)size + 1);
	if (!line)
		return 0;
	MPI_Imrecv(line, size, MPI_CHAR, &message, &request);
	if (!ranks_wait(&request, seconds))
		return 0; /* and the line is not freed: it may still be written to */
	kept = size == 0 || record_file_put(line, (size_t)size);
	if (kept)
		tell(status.MPI_SOURCE, &KEPT);
	free(line);
	return 1;
}

/* Every record of the ranks that are there, a window of them at a time. */
static void fetch_records(double seconds)
{
	int asked = 0, got = 0;

	while (got < waits) {
		for (; asked < waits && asked - got < WINDOW; asked++)
			tell(waiting[asked], &GIVE);
		if (!fetch_one(seconds))
			break;
		got++;
	}
	if (got < waits)
		ranks_give_up("the record of a rank did not come");
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

static int take_memory(void)
{
	summaries = calloc((size_t)ranks_count(), sizeof(*summaries));
	waiting = calloc((size_t)ranks_count(), sizeof(*waiting));
	return summaries && waiting;
}

int collect_lead(struct run *run, const char *text, size_t size, double own_step)
{
	const double began = clock_now(), cpu = cpu_seconds();
	struct summary message;
	int rank, valid, recorded = 1;

	if (!take_memory())
		return EXIT_INVALID;
	record_file_restart();
	if (text)
		recorded = record_file_put(text, size);
	for (rank = 0; rank < ranks_count(); rank++)
		summaries[rank].rank = rank;
	summarize(&summaries[0], run);
	if (agree_hear(TAG_SUMMARY, &message, sizeof(message), patience(own_step), hear_summary) <
	    ranks_count())
		ranks_give_up("a rank did not answer");
	if (run->options.json && !guard_signalled())
		fetch_records(patience(own_step));
	print_table(run);
	block_print(summaries, ranks_count(), &run->options, ranks_node_of);
	printf("Collected %d ranks in %.4f s, %.4f s of rank 0's CPU time\n", waits + 1,
	       clock_now() - began, cpu_seconds() - cpu);
	valid = block_verdict(summaries, ranks_count(), &run->options, ranks_node_of,
			      ranks_gave_up());
	fflush(stdout);
	agree_tell_all(TAG_TALK, &LEAVE);
	return valid && recorded ? EXIT_VALID : EXIT_INVALID;
}

/* A rank that gave up saves its record when rank 0 is not prompt. */
static const double PROMPT = 2;

/* Listens to rank 0 until it says LEAVE; returns whether it kept the record. */
static int talk(const char *text, size_t size, double seconds)
{
	const double start = clock_now();
	MPI_Request sent = MPI_REQUEST_NULL;
	int word = 0, kept = 0, rescued = guard_signalled() != 0;

	while (word != LEAVE && clock_now() - start < seconds) {
		MPI_Request heard;

		MPI_Irecv(&word, 1, MPI_INT, 0, TAG_TALK, MPI_COMM_WORLD, &heard);
		while (!ranks_wait(&heard, rescued ? seconds : PROMPT)) {
			if (rescued || clock_now() - start > seconds)
				return kept;
			if (ranks_gave_up() && text && !kept)
				rescued = record_file_rescue(text, size);
		}
		if (word == GIVE)
			MPI_Isend(text, text ? (int)size : 0, MPI_CHAR, 0, TAG_RECORD,
				  MPI_COMM_WORLD, &sent);
		if (word == KEPT)
			kept = 1;
	}
	if (kept && rescued)
		record_file_unrescue();
	return kept || (rescued && text);
}

int collect_follow(struct run *run, const char *text, size_t size, double own_step)
{
	static struct summary mine; /* static: it may be under way when this returns */
	const double seconds = 2 * ranks_limit(own_step) + 10;
	MPI_Request sent;

	summarize(&mine, run);
	MPI_Isend(&mine, (int)sizeof(mine), MPI_CHAR, 0, TAG_SUMMARY, MPI_COMM_WORLD, &sent);
	if (!talk(text, size, guard_signalled() ? PROMPT : seconds) && text) {
		ranks_give_up("rank 0 did not answer");
		fprintf(stderr,
			"membw: rank %d on %s: rank 0 did not take the record: it is in "
			"'%s.rank-%d'\n",
			ranks_me(), ranks_node(), run->options.json, ranks_me());
		record_file_rescue(text, size);
	}
	return verdict_is_valid() ? EXIT_VALID : EXIT_INVALID;
}

#else

int collect_lead(struct run *run, const char *text, size_t size, double own_step)
{
	(void)run;
	(void)text;
	(void)size;
	(void)own_step;
	return EXIT_INVALID;
}

int collect_follow(struct run *run, const char *text, size_t size, double own_step)
{
	return collect_lead(run, text, size, own_step);
}

#endif
