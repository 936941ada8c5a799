/*
 * ranks: this process among those of its job.
 *
 * They are ranks of MPI (mpi.c, -DMEMBW_MPI) or, without it, the processes that srun
 * started in one step and that know nothing of each other: then each keeps its own record.
 * With MPI every wait has a time limit: a rank that waits longer, or that a signal asks to
 * stop, gives up for good, keeps what it measured and goes on to report it.
 */
#pragma once

#include "../config.h"

#include "../machine/cpuset.h"

enum { NODE_NAME_MAX = 256, LIMIT_SECONDS = 60, LIMIT_STEPS = 20 };

LOCAL int ranks_me(void);
LOCAL int ranks_count(void);

/* The node's name as its scheduler has it, else the host's. */
LOCAL const char *ranks_node(void);

/* Seconds that a rank waits for other ranks: by --timeout, else 60, or 20 times what its
 * own last step took, if that is more. */
LOCAL void ranks_limit_ask(double seconds);
LOCAL double ranks_limit(double own_step);

/* What srun says; what MPI says. */
LOCAL void ranks_by_slurm(void);
LOCAL void ranks_are(int rank, int count);

#ifdef MEMBW_MPI

/* Joins the job; before anything else.  MPI's word counts, unless it says that this process is
 * alone. */
LOCAL void ranks_start(int *argc, char ***argv);

/* Whether there is anybody to wait for. */
LOCAL int ranks_together(void);

/* Exchanges names, CPUs and thread counts (host_ranks.h). */
LOCAL void ranks_meet(const struct cpuset *cpus, int threads);

/* On rank 0: the node of a rank; how many ranks this rank's node has. */
LOCAL const char *ranks_node_of(int rank);
LOCAL int ranks_on_node(void);

/* Waits for all ranks; 0 if this rank has given up. */
LOCAL int ranks_barrier(double own_step);

/* Why this rank gave up, NULL if it did not. */
LOCAL const char *ranks_gave_up(void);

/* Of each of COUNT values the smallest over all ranks (of ~value: the largest's complement); 0 if
 * this rank has given up. */
enum { SMALLEST_MOST = 8 };
LOCAL int ranks_smallest(size_t *values, int count);

/* The sum over this rank and those of its host; below 0 where not all answer. */
LOCAL double ranks_sum_on_host(double own);

/* The largest of each of COUNT values over this rank's node and, on rank 0, over all. */
LOCAL int ranks_slowest(const double *own, double *node, double *job, int count);

/* SIZE bytes of each rank come to rank 0, into ALL; 0 if this rank has given up. */
LOCAL int ranks_gather(const void *own, int size, void *all, double own_step);

/* The texts come to rank 0 one by one, in the order of the ranks: PUT keeps each, PUBLISH all.
 * 1 on every rank if they are kept. */
LOCAL int ranks_hand_over(const char *text, size_t size, int (*put)(const char *text, size_t size),
			  int (*publish)(void));

/* One message to or from one rank: MPI's own Send and Recv, for figures that are those of MPI; a
 * rank that hangs there is the watchdog's.  ASLEEP: looks every tenth of a millisecond only. */
enum waiting { POLLING, ASLEEP };
LOCAL void ranks_send(const void *data, size_t bytes, int to);
LOCAL void ranks_receive(void *data, size_t bytes, int from, enum waiting waiting);

/* What MPI calls itself: "Open MPI v4.1.4, ..."; one line. */
LOCAL const char *ranks_library(void);

/* For error_hooks(): rank 0 speaks first, and one is enough. */
LOCAL void ranks_refuse(const char *fact, const char *hint);

/* Leaves the job: in order or, after giving up or a usage error, by ending it for all. */
LOCAL void ranks_leave(int status);

#else /* no rank to wait for */

#define ONE static __inline__ __attribute__((unused))

/* clang-format off */
ONE void ranks_start(int *argc, char ***argv) { (void)argc; (void)argv; ranks_by_slurm(); }
ONE int ranks_together(void) { return 0; }
ONE int ranks_on_node(void) { return 1; }
ONE int ranks_smallest(size_t *values, int count) { return values && count; }
ONE int ranks_barrier(double own_step) { return own_step >= 0; }
/* clang-format on */

#define ranks_sum_on_host NULL
#define ranks_refuse NULL
#define ranks_leave NULL

#endif
