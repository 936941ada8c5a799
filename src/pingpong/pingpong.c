/*
 * pingpong: how long a message takes from one core to another.
 *
 * One file for the compiler, by any published line:
 *	gcc -O2 -fopenmp pingpong.c -o pingpong
 */

/* Open MPI 4 locks as soon as a program may have threads, and a short message takes half as long
 * again.  IMB and the published ping-pongs call MPI_Init, which asks for one thread; here too only
 * one calls MPI. */
#define RANKS_THREADS MPI_THREAD_SINGLE
#include "../harness/harness.c"

#include "blocks.c"
#include "exchanges.c"
#include "figures.c"
#include "links.c"
#include "main.c"
#include "messages.c"
#include "pairs.c"
#include "shared_line.c"
