/*
 * dgemm: how much of a node's arithmetic a BLAS reaches, and who did the work.
 *
 * One file for the compiler, by any published line and the BLAS's own link words:
 *	gcc -O3 -fopenmp dgemm.c -o dgemm -lopenblas
 */
#include "../harness/harness.c"

#include "blas/blas.c"
#include "ceiling/ceiling.c"
#include "ceiling/loops.c"
#include "judge.c"
#include "main.c"
#include "matrices.c"
#include "measure.c"
#include "output.c"
#include "repetitions.c"
#include "validate.c"
