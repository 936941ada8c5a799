#include "ranks.h"

#ifdef MEMBW_MPI

#include "../clock.h"
#include "../error.h"
#include "host_ranks.h"
#include "watchdog.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The thread level of a program that measures messages; pingpong.c gives the reason. */
#ifndef RANKS_THREADS
#define RANKS_THREADS MPI_THREAD_FUNNELED
#endif

enum { TAG_TEXT = 1, TAG_MESSAGE };

/* A wait polls at full speed for so long: the start of a kernel must not be late by a sleep that
 * is not over.  Then it looks every tenth of a millisecond. */
static const double MPI_SPIN_SECONDS = 1.0;
static const struct timespec MPI_NAP = { 0, 100000 };

static MPI_Comm mpi_host = MPI_COMM_NULL, mpi_node = MPI_COMM_NULL;
static int mpi_on_host = 1, mpi_on_node = 1;
static char *mpi_nodes; /* on rank 0: NODE_NAME_MAX bytes of each rank */
static const char *mpi_gave_up;
static double mpi_gave_up_at; /* clock */

static void *mpi_memory_of(int count, size_t size)
{
	return room_for((size_t)count, size, "ranks", "start fewer");
}

void ranks_start(int *argc, char ***argv)
{
	int provided, size, me;

	ranks_by_slurm();
	MPI_Init_thread(argc, argv, RANKS_THREADS, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size == 1)
		return;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	ranks_are(me, size);
	if (me > 0 && !freopen("/dev/null", "w", stdout))
		fclose(stdout);
	mpi_node = MPI_COMM_WORLD;
	watchdog_start(me, ranks_node());
}

int ranks_together(void)
{
	return mpi_node != MPI_COMM_NULL;
}

int ranks_on_node(void)
{
	return mpi_on_node;
}

const char *ranks_node_of(int rank)
{
	return mpi_nodes ? mpi_nodes + (size_t)rank * NODE_NAME_MAX : ranks_node();
}

const char *ranks_gave_up(void)
{
	return mpi_gave_up;
}

static void mpi_nap(double waited)
{
	if (waited > MPI_SPIN_SECONDS)
		nanosleep(&MPI_NAP, NULL);
	else
		sched_yield();
}

/* For what all do together, until a rank gives up; what is being received into stays. */
static int mpi_wait_for_all(MPI_Request *request, double seconds)
{
	const double start = clock_now();
	double waited = 0;
	int done = 0;

	while (!watchdog_signalled() && waited <= seconds &&
	       MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		if (done)
			return 1;
		waited = clock_now() - start;
		mpi_nap(waited);
	}
	mpi_gave_up = watchdog_signalled() ? "a signal ended the run"
					   : "another rank did not come in time";
	mpi_gave_up_at = clock_now();
	return 0;
}

int ranks_barrier(double own_step)
{
	const double seconds = ranks_limit(own_step);
	MPI_Request all;

	if (!ranks_together())
		return 1;
	if (mpi_gave_up)
		return 0;
	/* the other ranks are given up first; this is for a rank that hangs after its barrier */
	watchdog_limit(3 * seconds, "in a kernel, or in MPI at its start");
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	return mpi_wait_for_all(&all, seconds);
}

/* The ranks of a host share memory; those of a node also its name. */
static void mpi_meet_host(const struct cpuset *cpus, int threads)
{
	struct host_rank *mine = mpi_memory_of(1, sizeof(*mine)), *all;
	int self, first = 0;

	mine->cpus = *cpus;
	mine->threads = threads;
	mine->rank = ranks_me();
	strcpy(mine->node, ranks_node());
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks_me(), MPI_INFO_NULL,
			    &mpi_host);
	MPI_Comm_size(mpi_host, &mpi_on_host);
	MPI_Comm_rank(mpi_host, &self);
	all = mpi_memory_of(mpi_on_host, sizeof(*all));
	MPI_Allgather(mine, (int)sizeof(*mine), MPI_CHAR, all, (int)sizeof(*mine), MPI_CHAR,
		      mpi_host);
	host_ranks_know(all, mpi_on_host, self);
	while (strcmp(all[first].node, mine->node) != 0)
		first++;
	MPI_Comm_split(mpi_host, first, self, &mpi_node);
	MPI_Comm_size(mpi_node, &mpi_on_node);
	free(mine);
}

void ranks_meet(const struct cpuset *cpus, int threads)
{
	char name[NODE_NAME_MAX] = "";

	if (!ranks_together())
		return;
	watchdog_limit(2 * ranks_limit(0), "before all ranks met");
	mpi_meet_host(cpus, threads);
	MPI_Comm_set_errhandler(mpi_host, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(mpi_node, MPI_ERRORS_RETURN);
	strcpy(name, ranks_node());
	if (ranks_me() == 0)
		mpi_nodes = mpi_memory_of(ranks_count(), NODE_NAME_MAX);
	MPI_Gather(name, NODE_NAME_MAX, MPI_CHAR, mpi_nodes, NODE_NAME_MAX, MPI_CHAR, 0,
		   MPI_COMM_WORLD);
}

int ranks_smallest(size_t *values, int count)
{
	static unsigned long long own[SMALLEST_MOST], least[SMALLEST_MOST];
	MPI_Request request;
	int i;

	if (!ranks_together())
		return 1;
	if (mpi_gave_up)
		return 0;
	for (i = 0; i < count; i++)
		own[i] = values[i];
	MPI_Iallreduce(own, least, count, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD,
		       &request);
	if (!mpi_wait_for_all(&request, ranks_limit(0)))
		return 0;
	for (i = 0; i < count; i++)
		values[i] = (size_t)least[i];
	return 1;
}

double ranks_sum_on_host(double own)
{
	static double mine, sum; /* static: they may be under way at the end */
	MPI_Request request;

	if (mpi_on_host == 1)
		return own;
	if (mpi_gave_up)
		return -1;
	mine = own;
	MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, mpi_host, &request);
	return mpi_wait_for_all(&request, ranks_limit(0)) ? sum : -1;
}

int ranks_slowest(const double *own, double *of_node, double *of_job, int count)
{
	MPI_Request request[2];

	if (mpi_gave_up)
		return 0;
	MPI_Iallreduce(own, of_node, count, MPI_DOUBLE, MPI_MAX, mpi_node, &request[0]);
	MPI_Ireduce(own, of_job, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD, &request[1]);
	return mpi_wait_for_all(&request[0], ranks_limit(0)) &&
	       mpi_wait_for_all(&request[1], ranks_limit(0));
}

int ranks_gather(const void *own, int size, void *all, double own_step)
{
	const double seconds = ranks_limit(own_step);
	MPI_Request request;

	if (mpi_gave_up)
		return 0;
	watchdog_limit(3 * seconds, "in MPI, while the results were gathered");
	MPI_Igather(own, size, MPI_BYTE, all, size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	return mpi_wait_for_all(&request, seconds);
}

static int mpi_take_text(int rank, int (*put)(const char *, size_t))
{
	MPI_Status status;
	int size, kept;
	char *text;

	if (MPI_Probe(rank, TAG_TEXT, MPI_COMM_WORLD, &status) != MPI_SUCCESS)
		return 0;
	MPI_Get_count(&status, MPI_CHAR, &size);
	text = mpi_memory_of(size + 1, 1);
	kept = MPI_Recv(text, size, MPI_CHAR, rank, TAG_TEXT, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
		       MPI_SUCCESS &&
	       put(text, (size_t)size);
	free(text);
	return kept;
}

int ranks_hand_over(const char *text, size_t size, int (*put)(const char *text, size_t size),
		    int (*publish)(void))
{
	int rank, kept = 1;

	watchdog_limit(5 * ranks_limit(0), "in MPI, while the records were gathered");
	if (ranks_me() > 0) /* synchronous: nothing but headers lies on rank 0 before its turn */
		MPI_Ssend(text, (int)size, MPI_CHAR, 0, TAG_TEXT, MPI_COMM_WORLD);
	else
		kept = put(text, size);
	for (rank = 1; ranks_me() == 0 && rank < ranks_count(); rank++)
		kept &= mpi_take_text(rank, put);
	kept = kept && (ranks_me() > 0 || publish());
	return MPI_Bcast(&kept, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && kept;
}

static void mpi_end_all(void)
{
	fflush(NULL);
	MPI_Abort(MPI_COMM_WORLD, EXIT_INVALID);
	_exit(EXIT_INVALID);
}

/* A connection that failed, say. To go on with what never came would end in a crash. */
static void mpi_end_without(int code, const char *what, int other)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	MPI_Error_string(code, text, &length);
	fprintf(stderr,
		"membw: rank %d on %s: no message %s rank %d: %s\n"
		"hint: can their nodes reach each other? see also the messages of MPI\n",
		ranks_me(), ranks_node(), what, other, text);
	mpi_end_all();
}

/* Who plays with another does not look at the clock, but for a signal at each message. */
static void mpi_end_if_requested(void)
{
	if (!watchdog_signalled())
		return;
	fprintf(stderr, "membw: rank %d on %s: ended by %s: no record\n", ranks_me(), ranks_node(),
		watchdog_ended_by() ? watchdog_ended_by() : "a signal");
	mpi_end_all();
}

void ranks_send(const void *data, size_t bytes, int to)
{
	int code;

	mpi_end_if_requested();
	code = MPI_Send(data, (int)bytes, MPI_BYTE, to, TAG_MESSAGE, MPI_COMM_WORLD);

	if (code != MPI_SUCCESS)
		mpi_end_without(code, "to", to);
}

void ranks_receive(void *data, size_t bytes, int from, enum waiting waiting)
{
	int there = waiting == POLLING, code = MPI_SUCCESS;

	while (!there && code == MPI_SUCCESS) {
		code = MPI_Iprobe(from, TAG_MESSAGE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (!there)
			nanosleep(&MPI_NAP, NULL);
	}
	if (code == MPI_SUCCESS)
		code = MPI_Recv(data, (int)bytes, MPI_BYTE, from, TAG_MESSAGE, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	if (code != MPI_SUCCESS)
		mpi_end_without(code, "from", from);
}

const char *ranks_library(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(text, &length);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Rank 0 prints first, then the other ranks in turn.  Whoever has ended the job by then has said
 * why: Open MPI begins that with SIGCONT. */
static void mpi_wait_my_turn(double seconds, int status)
{
	const int before = ranks_me() < 20 ? ranks_me() : 20;
	const double until = clock_now() + seconds + (before ? 1 + 0.1 * before : 0);

	watchdog_heed(SIGCONT);
	while (clock_now() < until && !watchdog_signalled())
		nanosleep(&MPI_NAP, NULL);
	if (watchdog_signalled())
		_exit(status);
}

void ranks_refuse(const char *fact, const char *hint)
{
	if (!ranks_together() || ranks_me() == 0)
		return;
	mpi_wait_my_turn(0, EXIT_USAGE);
	fprintf(stderr, "membw: %s (rank %d on %s)\nhint: %s\n", fact, ranks_me(), ranks_node(),
		hint);
	ranks_leave(EXIT_USAGE);
}

/* Whoever leaves first lets the launcher end the other ranks, which may still be writing: as long
 * as this rank took since it gave up, and a second. */
static void mpi_give_up(void)
{
	mpi_wait_my_turn(clock_now() - mpi_gave_up_at + 1, EXIT_INVALID);
	fprintf(stderr,
		"membw: rank %d on %s: gave up: %s\n"
		"hint: ranks that answered have their own records: 'membw rank --expected' names "
		"the rest\n",
		ranks_me(), ranks_node(), mpi_gave_up);
}

void ranks_leave(int status)
{
	fflush(NULL);
	if (!ranks_together()) {
		MPI_Finalize();
		return;
	}
	watchdog_limit(LIMIT_SECONDS, "at the end of the job");
	if (mpi_gave_up)
		mpi_give_up();
	if (mpi_gave_up || status == EXIT_USAGE)
		MPI_Abort(MPI_COMM_WORLD, status);
	MPI_Finalize();
	/* rank 0 speaks for the job: one status, not a race of many */
	exit(ranks_me() == 0 ? status : EXIT_VALID);
}

#endif
