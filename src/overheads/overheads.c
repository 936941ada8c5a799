/*
 * overheads: what OpenMP itself costs, construct by construct.
 *
 * One file for the compiler, by any published line:
 *	gcc -O2 -fopenmp overheads.c -o overheads
 */
#ifndef _OPENMP
#error "overheads measures what OpenMP costs: compile it with OpenMP (gcc: -fopenmp)"
#endif

#include "../harness/harness.c"

#include "constructs.c"
#include "delay.c"
#include "figures.c"
#include "main.c"
#include "measure.c"
#include "runtime.c"
#include "team.c"
