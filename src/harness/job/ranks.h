/*
 * ranks: this process among the ranks of one MPI job.
 *
 * Compiled without -DMEMBW_MPI everything here is trivial: rank 0 of 1, and
 * nothing to wait for.  With it, no wait is without end: a rank that waits
 * longer than the limit gives up, and so do all others as soon as rank 0
 * hears of it.  Who gives up keeps what was measured and goes on to report.
 */
#ifndef MEMBW_RANKS_H
#define MEMBW_RANKS_H

#include "../config.h"

enum { NODE_NAME_MAX = 64, LIMIT_SECONDS = 60, LIMIT_TIMES = 20 };

enum tag { TAG_CALL = 1, TAG_ANSWER, TAG_GIVE_UP, TAG_SUMMARY, TAG_TALK, TAG_RECORD };

/* Joins the job; to be called before anything else. */
void ranks_start(int *argc, char ***argv);

int ranks_me(void);
int ranks_count(void);

/* The node's name: Slurm's where Slurm started us, else the host's. */
const char *ranks_node(void);

/* On rank 0, after the first agreement: the node of a rank. */
const char *ranks_node_of(int rank);

/* Seconds that this rank waits for others: as asked (0: not asked), else 60,
 * or 20 times what its own last step took, if that is more. */
void ranks_limit_ask(double seconds);
double ranks_limit(double own_step);

/* Goes on when every rank is here; ends all of them, with one message, if one
 * refused (status 2) or did not come (status 1). */
void ranks_agree(double own_step);

/* Refuses in place of the next agreement; returns only where there is one
 * rank, which has nobody to tell. */
void ranks_refuse(const char *fact, const char *hint);

/* Waits for all ranks; 0 if this rank has to give up. */
int ranks_barrier(double own_step);

/* Why this rank gave up, NULL if it did not. */
const char *ranks_gave_up(void);
void ranks_give_up(const char *why);

/* The largest and the smallest over all ranks. */
size_t ranks_largest(size_t value);
size_t ranks_smallest(size_t value);

/* Leaves the job: in order, or, after giving up, by ending it. */
void ranks_leave(int status) __attribute__((noreturn));

/* For tests: faults are planted on rank MEMBW_PLANT_RANK alone, if that is set. */
int ranks_has_fault(void);

#ifdef MEMBW_MPI
#include <mpi.h>

/* Tests a request until it is done, for so many seconds at most. */
int ranks_wait(MPI_Request *request, double seconds);

/* The same, but other ranks' giving up and signals end it, too. */
int ranks_wait_with_all(MPI_Request *request, double seconds);

/* One value of all values among those ranks. */
size_t ranks_reduce(size_t value, MPI_Op op, MPI_Comm among);

/* A short sleep once a wait has lasted; never while it is young. */
void ranks_nap(double waited);
#endif

#endif
