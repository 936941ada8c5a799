#include "ranks.h"

#include "../error.h"
#include "watchdog.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks = 1;
static double asked_limit;

int ranks_me(void)
{
	return me;
}

int ranks_count(void)
{
	return ranks;
}

const char *ranks_node(void)
{
	static char name[NODE_NAME_MAX];
	const char *slurm = getenv("SLURMD_NODENAME");

	if (*name)
		return name;
	if (slurm && *slurm && ranks > 1)
		strncpy(name, slurm, sizeof(name) - 1);
	else
		gethostname(name, sizeof(name) - 1);
	return name;
}

void ranks_limit_ask(double seconds)
{
	asked_limit = seconds;
}

double ranks_limit(double own_step)
{
	if (asked_limit > 0)
		return asked_limit;
	return own_step * LIMIT_TIMES > LIMIT_SECONDS ? own_step * LIMIT_TIMES : LIMIT_SECONDS;
}

int ranks_has_fault(void)
{
#ifdef MEMBW_PLANT_RANK
	return me == MEMBW_PLANT_RANK;
#else
	return 1;
#endif
}

#ifdef MEMBW_MPI

#include "../clock.h"
#include "handshake.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

/* A wait polls at full speed for so long: the start of a kernel must not be
 * late by a sleep that is not over. */
static const double SPIN_SECONDS = 1.0;
enum { TURNS_A_LOOK = 64, NAP_NANOSECONDS = 100000 };

static MPI_Request told_to_give_up = MPI_REQUEST_NULL;
static const char *gave_up;

void ranks_start(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (me > 0) {
		MPI_Irecv(NULL, 0, MPI_CHAR, 0, TAG_GIVE_UP, MPI_COMM_WORLD, &told_to_give_up);
		if (!freopen("/dev/null", "w", stdout))
			fclose(stdout);
	}
}

void ranks_nap(double waited)
{
	struct timespec nap;

	nap.tv_sec = 0;
	nap.tv_nsec = NAP_NANOSECONDS;
	if (waited > SPIN_SECONDS)
		nanosleep(&nap, NULL);
	else
		sched_yield();
}

/* Somebody gave up, or a signal came; a look costs MPI calls. */
static int has_to_stop(void)
{
	int told = 0;

	if (guard_signalled())
		ranks_give_up("a signal asked to stop");
	if (me > 0)
		MPI_Test(&told_to_give_up, &told, MPI_STATUS_IGNORE);
	else
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_GIVE_UP, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
	if (told)
		ranks_give_up("another rank gave up");
	return gave_up != NULL;
}

static int wait_for(MPI_Request *request, double seconds, int with_all)
{
	const double start = clock_now();
	double waited = 0;
	int done = 0, turn;

	for (turn = 0;; turn++) {
		if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return 0;
		if (done)
			return 1;
		if (turn % TURNS_A_LOOK == 0 || waited > SPIN_SECONDS) {
			waited = clock_now() - start;
			if (waited > seconds || (with_all && has_to_stop()))
				return 0;
		}
		ranks_nap(waited);
	}
}

int ranks_wait(MPI_Request *request, double seconds)
{
	return wait_for(request, seconds, 0);
}

int ranks_wait_with_all(MPI_Request *request, double seconds)
{
	if (gave_up)
		return 0;
	if (!wait_for(request, seconds, 1))
		ranks_give_up("another rank did not come within the time limit");
	return gave_up == NULL;
}

int ranks_barrier(double own_step)
{
	MPI_Request all;

	if (guard_signalled())
		ranks_give_up("a signal asked to stop");
	if (gave_up || ranks == 1)
		return gave_up == NULL;
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	return ranks_wait_with_all(&all, ranks_limit(own_step));
}

const char *ranks_gave_up(void)
{
	return gave_up;
}

static void say_so(int rank)
{
	MPI_Request sent;

	MPI_Isend(NULL, 0, MPI_CHAR, rank, TAG_GIVE_UP, MPI_COMM_WORLD, &sent);
	MPI_Request_free(&sent);
}

void ranks_give_up(const char *why)
{
	int rank;

	if (gave_up)
		return;
	gave_up = why;
	guard_noticed();
	if (me > 0)
		say_so(0);
	for (rank = 1; me == 0 && rank < ranks; rank++)
		say_so(rank);
}

size_t ranks_reduce(size_t value, MPI_Op op, MPI_Comm among)
{
	unsigned long long mine = value, all = value;

	MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, op, among);
	return (size_t)all;
}

size_t ranks_largest(size_t value)
{
	return ranks_reduce(value, MPI_MAX, MPI_COMM_WORLD);
}

size_t ranks_smallest(size_t value)
{
	return ranks_reduce(value, MPI_MIN, MPI_COMM_WORLD);
}

void ranks_leave(int status)
{
	fflush(NULL);
	guard_limit(5, "for the end of the job");
	if (gave_up && ranks > 1) {
		if (me == 0)
			MPI_Abort(MPI_COMM_WORLD, status);
		_exit(status);
	}
	if (told_to_give_up != MPI_REQUEST_NULL) {
		MPI_Cancel(&told_to_give_up);
		MPI_Request_free(&told_to_give_up);
	}
	MPI_Finalize();
	/* rank 0 speaks for the job: one status, not a race of many */
	exit(me == 0 ? status : EXIT_VALID);
}

#else

void ranks_start(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
}

const char *ranks_node_of(int rank)
{
	(void)rank;
	return ranks_node();
}

void ranks_agree(double own_step)
{
	(void)own_step;
}

void ranks_refuse(const char *fact, const char *hint)
{
	(void)fact;
	(void)hint;
}

int ranks_barrier(double own_step)
{
	(void)own_step;
	return 1;
}

const char *ranks_gave_up(void)
{
	return NULL;
}

void ranks_give_up(const char *why)
{
	(void)why;
}

size_t ranks_largest(size_t value)
{
	return value;
}

size_t ranks_smallest(size_t value)
{
	return value;
}

void ranks_leave(int status)
{
	exit(status);
}

#endif
