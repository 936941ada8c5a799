/*
 * matrices: C (m x n) += A (m x k) B (k x n), column after column as Fortran has them, of whole
 * numbers from -8 to 7.
 *
 * With whole numbers every order of summation gives the same bits, fused or not, as long as no
 * sum reaches 2^53: what C must hold is known exactly.  Each entry follows from its place, so
 * that nothing has to be kept to know it.
 */
#pragma once

#include "../harness/config.h"

enum matrix { MATRIX_A, MATRIX_B, MATRIX_C, MATRICES };

struct matrices {
	size_t m, n, k;
	size_t leading[MATRICES]; /* elements from column to column */
	double *of[MATRICES];
	size_t bytes[MATRICES];
	double times_added; /* how often A B was added to C */
};

/* Bytes that matrices of this shape take. */
double matrices_bytes(size_t m, size_t n, size_t k);

/* Maps and fills them, each thread its columns. */
void matrices_make(struct matrices *matrices, size_t m, size_t n, size_t k);
void matrices_free(struct matrices *matrices);

/* What A, B and, before anything was added, C hold in row i of column j. */
int matrices_entry(enum matrix matrix, size_t i, size_t j);
