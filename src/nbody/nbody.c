/*
 * nbody: how a computation of all pairs scales with the threads of a node.
 *
 * One file for the compiler, by any published line:
 *	gcc -O3 -march=native -fopenmp nbody.c -o nbody
 */
#include "../harness/harness.c"

#include "bodies.c"
#include "energy.c"
#include "figures.c"
#include "forces.c"
#include "main.c"
#include "measure.c"
#include "offload.c"
