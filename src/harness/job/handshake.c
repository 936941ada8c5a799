#include "../config.h"

#ifdef MEMBW_MPI

#include "ranks.h"

#include "../clock.h"
#include "../error.h"
#include "handshake.h"
#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_MAX = 1024, GO = 0, REFUSED = 1, INCOMPLETE = 2 };

/* After a signal the launcher kills soon: Open MPI within a second. */
static const double SIGNAL_PATIENCE = 0.4;

/* READY or REFUSES, node, fact, hint; the texts end in a zero each */
enum { READY = '+', REFUSES = '-' };

struct refusal {
	int rank;
	char *fact, *hint;
};

static char *nodes; /* on rank 0: of each rank, NODE_NAME_MAX bytes; "" before it came */
static char *came;
static struct refusal *refusals;
static int refused;

static void *some(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory)
		return memory;
	fprintf(stderr, "membw: no memory for '%zu' ranks\nhint: start fewer\n", count);
	MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
	_exit(EXIT_USAGE);
}

const char *ranks_node_of(int rank)
{
	return nodes ? nodes + (size_t)rank * NODE_NAME_MAX : ranks_node();
}

int agree_hear(enum tag tag, void *buffer, int size, double seconds,
	       void (*each)(int rank, const char *message, int length))
{
	const double until = clock_now() + seconds;
	int heard;

	for (heard = 1; heard < ranks_count(); heard++) {
		MPI_Request request;
		MPI_Status status;
		const double start = clock_now();
		int done = 0, length = 0;

		MPI_Irecv(buffer, size, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
		while (MPI_Test(&request, &done, &status), !done) {
			const double now = clock_now();

			if (now > until || guard_since_signal() > SIGNAL_PATIENCE) {
				MPI_Cancel(&request);
				MPI_Request_free(&request);
				return heard;
			}
			ranks_nap(now - start);
		}
		MPI_Get_count(&status, MPI_CHAR, &length);
		each(status.MPI_SOURCE, buffer, length);
	}
	return heard;
}

void agree_tell_all(enum tag tag, const int *word)
{
	MPI_Request *sent = some((size_t)ranks_count(), sizeof(*sent));
	int rank, done = 0;
	const double start = clock_now();

	sent[0] = MPI_REQUEST_NULL;
	for (rank = 1; rank < ranks_count(); rank++)
		MPI_Isend(word, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &sent[rank]);
	while (!done && clock_now() - start < 1)
		MPI_Testall(ranks_count(), sent, &done, MPI_STATUSES_IGNORE);
	free(sent);
}

static int message_of(char message[MESSAGE_MAX], const char *fact, const char *hint)
{
	int length = snprintf(message, NODE_NAME_MAX + 1, "%c%s", fact ? REFUSES : READY,
			      ranks_node()) +
		     1;

	if (fact)
		length +=
			snprintf(message + length, MESSAGE_MAX - 300 - NODE_NAME_MAX, "%s", fact) +
			1;
	if (fact)
		length += snprintf(message + length, 300 - 2, "%s", hint) + 1;
	return length < MESSAGE_MAX ? length : MESSAGE_MAX;
}

static void hear_one(int rank, const char *message, int length)
{
	const char *node = message + 1, *fact = node + strlen(node) + 1;
	struct refusal *r = &refusals[refused];

	(void)length;
	came[rank] = 1;
	strcpy(nodes + (size_t)rank * NODE_NAME_MAX, node);
	if (*message != REFUSES)
		return;
	r->rank = rank;
	r->fact = strdup(fact);
	r->hint = strdup(fact + strlen(fact) + 1);
	refused += r->fact && r->hint;
}

static int by_text(const void *x, const void *y)
{
	const struct refusal *a = x, *b = y;
	const int order = strcmp(a->fact, b->fact);

	return order ? order : a->rank - b->rank;
}

/* Each text once; with the first rank that said so, unless all of them did. */
static void print_refusals(void)
{
	int r, same;

	qsort(refusals, (size_t)refused, sizeof(*refusals), by_text);
	fflush(stdout);
	for (r = 0; r < refused; r += same) {
		const struct refusal *first = &refusals[r];

		for (same = 1; r + same < refused; same++)
			if (strcmp(refusals[r + same].fact, first->fact) != 0)
				break;
		fprintf(stderr, "membw: %s", first->fact);
		if (same < ranks_count())
			fprintf(stderr, " (rank %d on %s%s)", first->rank,
				ranks_node_of(first->rank), same > 1 ? ", and others" : "");
		putc('\n', stderr);
	}
	fprintf(stderr, "hint: %s\n", refusals[0].hint);
}

static void print_absent(double seconds)
{
	int rank;

	fflush(stdout);
	fprintf(stderr, "membw: ranks that did not come");
	if (guard_signalled())
		fprintf(stderr, " before signal %d:", guard_signalled());
	else
		fprintf(stderr, " within %.3g s:", seconds);
	for (rank = 1; rank < ranks_count(); rank++)
		if (!came[rank])
			fprintf(stderr, " %d (%s)", rank,
				*ranks_node_of(rank) ? ranks_node_of(rank) : "node unknown");
	fprintf(stderr, "\nhint: look at those nodes, or give more '--timeout'\n");
}

static int hear_all(const char *mine, double seconds)
{
	char message[MESSAGE_MAX];
	int heard;

	if (!nodes)
		nodes = some((size_t)ranks_count(), NODE_NAME_MAX);
	came = some((size_t)ranks_count(), 1);
	refusals = some((size_t)ranks_count(), sizeof(*refusals));
	refused = 0;
	hear_one(0, mine, 0);
	heard = agree_hear(TAG_CALL, message, MESSAGE_MAX, seconds, hear_one);
	if (refused)
		print_refusals();
	else if (heard < ranks_count())
		print_absent(seconds);
	free(came);
	free(refusals);
	return refused ? REFUSED : heard < ranks_count() ? INCOMPLETE : GO;
}

static int ask_rank_0(const char *mine, int length, double seconds)
{
	MPI_Request sent, answered;
	int answer = INCOMPLETE;

	MPI_Isend(mine, length, MPI_CHAR, 0, TAG_CALL, MPI_COMM_WORLD, &sent);
	MPI_Irecv(&answer, 1, MPI_INT, 0, TAG_ANSWER, MPI_COMM_WORLD, &answered);
	if (!ranks_wait(&sent, seconds) || !ranks_wait(&answered, seconds)) {
		fprintf(stderr, "membw: rank %d on %s: no answer of rank 0 within %.3g s\n",
			ranks_me(), ranks_node(), seconds);
		_exit(EXIT_INVALID);
	}
	return answer;
}

static void call(const char *fact, const char *hint, double seconds)
{
	static int answer; /* static: still being sent when this returns */
	char mine[MESSAGE_MAX];
	const int length = message_of(mine, fact, hint);

	/* rank 0 may come as late as the limit allows, and then wait as long */
	guard_limit(3 * seconds + 5, "for all ranks to be ready");
	if (ranks_me() == 0) {
		answer = hear_all(mine, seconds);
		agree_tell_all(TAG_ANSWER, &answer);
	} else {
		answer = ask_rank_0(mine, length, 2 * seconds + 1);
	}
	if (answer == REFUSED)
		ranks_leave(EXIT_USAGE);
	if (answer == INCOMPLETE) {
		ranks_give_up("a rank did not come");
		ranks_leave(EXIT_INVALID);
	}
}

void ranks_agree(double own_step)
{
	if (ranks_count() > 1)
		call(NULL, NULL, ranks_limit(own_step));
}

void ranks_refuse(const char *fact, const char *hint)
{
	if (ranks_count() > 1)
		call(fact, hint, ranks_limit(0));
}

#endif
