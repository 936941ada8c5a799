#include "ranks.h"

#ifdef MEMBW_MPI

#include "../clock.h"
#include "../error.h"
#include "host_ranks.h"
#include "watchdog.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_SUMMARY = 1, TAG_TEXT, TAG_MESSAGE };

/* A wait polls at full speed for so long: the start of a kernel must not be late by a sleep that
 * is not over.  Then it looks every tenth of a millisecond. */
static const double SPIN_SECONDS = 1.0;
static const struct timespec NAP = { 0, 100000 };

/* After a signal the launcher kills soon: Open MPI within a second.  Rank 0 listens so long. */
static const double SIGNAL_SECONDS = 0.3;

static MPI_Comm host = MPI_COMM_NULL, node = MPI_COMM_NULL;
static int on_host = 1, on_node = 1;
static char *nodes; /* on rank 0: NODE_NAME_MAX bytes of each rank */
static const char *gave_up;

static void *memory_of(int count, size_t size)
{
	void *memory = calloc((size_t)count, size);

	if (!memory)
		die("no memory for '%d' ranks", "start fewer", count);
	return memory;
}

void ranks_join(int *argc, char ***argv, int *me, int *count)
{
	int provided, size;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size == 1)
		return;
	*count = size;
	MPI_Comm_rank(MPI_COMM_WORLD, me);
	if (*me > 0 && !freopen("/dev/null", "w", stdout))
		fclose(stdout);
	node = MPI_COMM_WORLD;
	watchdog_start(*me, ranks_node());
}

int ranks_together(void)
{
	return node != MPI_COMM_NULL;
}

int ranks_on_node(void)
{
	return on_node;
}

const char *ranks_node_of(int rank)
{
	return nodes ? nodes + (size_t)rank * NODE_NAME_MAX : ranks_node();
}

const char *ranks_gave_up(void)
{
	return gave_up;
}

void ranks_give_up(const char *why)
{
	if (!gave_up)
		gave_up = why;
}

static void nap(double waited)
{
	if (waited > SPIN_SECONDS)
		nanosleep(&NAP, NULL);
	else
		sched_yield();
}

/* Time that is left of so many seconds, less once a signal has come. */
static int is_over(double waited, double seconds)
{
	return waited > seconds || (watchdog_signalled() && waited > SIGNAL_SECONDS);
}

static int wait_for(MPI_Request *request, double seconds)
{
	const double start = clock_now();
	int done = 0;

	while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
		const double waited = clock_now() - start;

		if (waited > seconds || watchdog_signalled())
			return 0;
		nap(waited);
	}
	return done;
}

/* For what all do together, while nobody has given up. */
static int wait_for_all(MPI_Request *request, double seconds)
{
	if (!wait_for(request, seconds))
		ranks_give_up(watchdog_signalled() ? "a signal asked to stop"
						   : "another rank did not come in time");
	return gave_up == NULL;
}

int ranks_barrier(double own_step)
{
	const double seconds = ranks_limit(own_step);
	MPI_Request all;

	if (!ranks_together())
		return 1;
	if (watchdog_signalled())
		ranks_give_up("a signal asked to stop");
	if (gave_up)
		return 0;
	/* the others are given up first; this is for a rank that hangs after its barrier */
	watchdog_limit(3 * seconds, "in a kernel, or in MPI at its start");
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	return wait_for_all(&all, seconds);
}

/* The ranks of a host share memory; those of a node also its name. */
static void meet_host(const struct cpuset *cpus, int threads)
{
	struct host_rank *mine = memory_of(1, sizeof(*mine)), *all;
	int self, first = 0;

	mine->cpus = *cpus;
	mine->threads = threads;
	mine->rank = ranks_me();
	strcpy(mine->node, ranks_node());
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks_me(), MPI_INFO_NULL,
			    &host);
	MPI_Comm_size(host, &on_host);
	MPI_Comm_rank(host, &self);
	all = memory_of(on_host, sizeof(*all));
	MPI_Allgather(mine, (int)sizeof(*mine), MPI_CHAR, all, (int)sizeof(*mine), MPI_CHAR, host);
	host_ranks_know(all, on_host, self);
	while (strcmp(all[first].node, mine->node) != 0)
		first++;
	MPI_Comm_split(host, first, self, &node);
	MPI_Comm_size(node, &on_node);
	free(mine);
}

void ranks_meet(const struct cpuset *cpus, int threads)
{
	char name[NODE_NAME_MAX] = "";

	if (!ranks_together())
		return;
	watchdog_limit(2 * ranks_limit(0), "before all ranks had met");
	meet_host(cpus, threads);
	MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
	strcpy(name, ranks_node());
	if (ranks_me() == 0)
		nodes = memory_of(ranks_count(), NODE_NAME_MAX);
	MPI_Gather(name, NODE_NAME_MAX, MPI_CHAR, nodes, NODE_NAME_MAX, MPI_CHAR, 0,
		   MPI_COMM_WORLD);
}

static size_t reduce(size_t value, MPI_Op op)
{
	unsigned long long mine = value, all = value;

	if (ranks_together())
		MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, op, MPI_COMM_WORLD);
	return (size_t)all;
}

size_t ranks_largest(size_t value)
{
	return reduce(value, MPI_MAX);
}

size_t ranks_smallest(size_t value)
{
	return reduce(value, MPI_MIN);
}

int ranks_least_of_two(size_t *one, size_t *other)
{
	static unsigned long long own[2],
		least[2]; /* static: may be under way when this returns */
	MPI_Request request;

	if (!ranks_together())
		return 1;
	if (gave_up)
		return 0;
	own[0] = *one;
	own[1] = *other;
	MPI_Iallreduce(own, least, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD, &request);
	if (!wait_for_all(&request, ranks_limit(0)))
		return 0;
	*one = (size_t)least[0];
	*other = (size_t)least[1];
	return 1;
}

double ranks_sum_on_our_cpus(double own)
{
	double *all;
	double sum;
	MPI_Request request;

	if (on_host == 1)
		return own;
	if (gave_up)
		return -1;
	all = memory_of(on_host, sizeof(*all));
	MPI_Iallgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, host, &request);
	if (!wait_for_all(&request, ranks_limit(0)))
		return -1; /* and what is still being received into is not freed */
	sum = host_ranks_sum_on_our_cpus(all);
	free(all);
	return sum;
}

int ranks_slowest(const double *own, double *of_node, double *of_job, int count)
{
	MPI_Request request[2];

	if (gave_up)
		return 0;
	MPI_Iallreduce(own, of_node, count, MPI_DOUBLE, MPI_MAX, node, &request[0]);
	MPI_Ireduce(own, of_job, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD, &request[1]);
	return wait_for_all(&request[0], ranks_limit(0)) &&
	       wait_for_all(&request[1], ranks_limit(0));
}

int ranks_gather(const void *own, int size, double seconds, void (*each)(int rank, const void *))
{
	const double start = clock_now();
	void *message;
	int heard;

	watchdog_limit(3 * seconds + LIMIT_SECONDS, "in MPI, while the results were gathered");
	if (ranks_me() > 0) {
		MPI_Request sent;

		MPI_Isend(own, size, MPI_CHAR, 0, TAG_SUMMARY, MPI_COMM_WORLD, &sent);
		MPI_Request_free(&sent);
		return 1;
	}
	message = memory_of(1, (size_t)size);
	for (heard = 1; heard < ranks_count(); heard++) {
		MPI_Status status;
		double waited = 0;
		int there = 0;

		while (MPI_Iprobe(MPI_ANY_SOURCE, TAG_SUMMARY, MPI_COMM_WORLD, &there, &status),
		       !there && !is_over(waited, seconds)) {
			waited = clock_now() - start;
			nap(waited);
		}
		if (!there)
			break;
		MPI_Recv(message, size, MPI_CHAR, status.MPI_SOURCE, TAG_SUMMARY, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		each(status.MPI_SOURCE, message);
	}
	free(message);
	return heard;
}

/* Synchronous at the other end: nothing but headers gathers here before its turn. */
static int take_text(int rank, double seconds, int (*put)(const char *, size_t))
{
	const double start = clock_now();
	MPI_Status status;
	int there = 0, size, kept;
	char *text;

	while (MPI_Iprobe(rank, TAG_TEXT, MPI_COMM_WORLD, &there, &status), !there) {
		if (is_over(clock_now() - start, seconds))
			return 0;
		nap(clock_now() - start);
	}
	MPI_Get_count(&status, MPI_CHAR, &size);
	text = memory_of(size + 1, 1);
	kept = MPI_Recv(text, size, MPI_CHAR, rank, TAG_TEXT, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
		       MPI_SUCCESS &&
	       put(text, (size_t)size);
	free(text);
	return kept;
}

int ranks_hand_over(const char *text, size_t size, double seconds,
		    int (*put)(const char *text, size_t size), int (*publish)(void))
{
	static int kept = 1;
	MPI_Request request;
	int rank;

	if (ranks_me() > 0) {
		MPI_Issend(text, (int)size, MPI_CHAR, 0, TAG_TEXT, MPI_COMM_WORLD, &request);
		if (!wait_for_all(&request, seconds))
			return 0;
	} else {
		kept = put(text, size);
		for (rank = 1; rank < ranks_count() && kept; rank++)
			kept = take_text(rank, seconds, put);
		kept = kept && publish();
		if (!kept)
			ranks_give_up("the record of a rank could not be kept");
	}
	MPI_Ibcast(&kept, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
	return wait_for_all(&request, seconds) && kept;
}

void ranks_send(const void *data, size_t bytes, int to)
{
	MPI_Send(data, (int)bytes, MPI_BYTE, to, TAG_MESSAGE, MPI_COMM_WORLD);
}

void ranks_receive(void *data, size_t bytes, int from, enum waiting waiting)
{
	int there = waiting == POLLING;

	while (!there) {
		MPI_Iprobe(from, TAG_MESSAGE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (!there)
			nanosleep(&NAP, NULL);
	}
	MPI_Recv(data, (int)bytes, MPI_BYTE, from, TAG_MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const char *ranks_library(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(text, &length);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

void ranks_refuse(const char *fact, const char *hint)
{
	if (!ranks_together() || ranks_me() == 0)
		return;
	/* what rank 0 says as well has ended the job by then, of others the first one's word; Open
	 * MPI begins that with SIGCONT */
	watchdog_heed(SIGCONT);
	usleep((useconds_t)(1000000 + 100000 * (ranks_me() < 20 ? ranks_me() : 20)));
	if (watchdog_signalled())
		_exit(EXIT_USAGE);
	fprintf(stderr, "membw: %s (rank %d on %s)\nhint: %s\n", fact, ranks_me(), ranks_node(),
		hint);
	ranks_leave(EXIT_USAGE);
}

/* Whoever leaves first lets the launcher end the others, which may still be writing: rank 0
 * ends the job when it has heard them, and is given up in its turn. */
static void wait_for_the_end(void)
{
	const double start = clock_now(), seconds = ranks_limit(0);

	watchdog_limit(seconds + 5, "at the end of the job");
	while (!is_over(clock_now() - start, seconds))
		nanosleep(&NAP, NULL);
	if (!watchdog_signalled())
		fprintf(stderr, "membw: rank %d on %s: gave up: %s\n", ranks_me(), ranks_node(),
			gave_up);
}

void ranks_leave(int status)
{
	fflush(NULL);
	if (!ranks_together()) {
		MPI_Finalize();
		return;
	}
	if (status == EXIT_USAGE || (gave_up && ranks_me() == 0))
		MPI_Abort(MPI_COMM_WORLD, status);
	if (gave_up) {
		wait_for_the_end();
		_exit(status);
	}
	watchdog_limit(LIMIT_SECONDS, "at the end of the job");
	MPI_Finalize();
	/* rank 0 speaks for the job: one status, not a race of many */
	exit(ranks_me() == 0 ? status : EXIT_VALID);
}

#endif
