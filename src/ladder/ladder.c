/*
 * ladder: latency and bandwidth of each level of memory, found by measuring.
 *
 * One file for the compiler, by any published line:
 *	gcc -O2 -fopenmp ladder.c -o ladder
 */
#include "../harness/harness.c"

#include "kernels.c"
#include "levels.c"
#include "main.c"
#include "measure.c"
#include "record.c"
#include "rungs.c"
#include "staircase.c"
