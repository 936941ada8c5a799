/*
 * pingpong: how long a message takes from one core to another.
 *
 * One file for the compiler, by any published line:
 *	gcc -O2 -fopenmp pingpong.c -o pingpong
 */
#include "../harness/harness.c"

#include "curve.c"
#include "exchanges.c"
#include "figures.c"
#include "links.c"
#include "main.c"
#include "matrix_time.c"
#include "messages.c"
