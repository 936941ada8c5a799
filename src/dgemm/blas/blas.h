/*
 * blas: which library multiplies, and what it reports of itself.
 *
 * Of the objects that are mapped, not of the line that linked them: LD_LIBRARY_PATH, LD_PRELOAD
 * and update-alternatives come after it.
 */
#pragma once

#include "../../harness/config.h"

/* Of the Fortran BLAS, 32-bit integers; by what every library of the kind exports. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
	    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
	    const double *beta, double *c, const int *ldc);

enum { BLAS_TEXT_MAX = 4096 };

struct blas {
	char path[BLAS_TEXT_MAX];  /* of the object that is called; "": part of the program */
	char other[BLAS_TEXT_MAX]; /* of another library that has a dgemm, too; "": none */
	char says[BLAS_TEXT_MAX];  /* version and configuration, "": nothing */
	const char *family;        /* "openblas", "blis", "mkl", ...; NULL: not known */
	const char *threading;     /* "none", "pthreads", "openmp"; NULL: it does not say */
	int threads;               /* that it would use, 0: it does not say */
};

void blas_look(struct blas *blas);

/* Finds wrong-library as REASON: LIBRARIES, with commas, each begin the file name of an object
 * that is mapped, and one of them that of the library called; THREADING is what it says.  NULL:
 * whatever they are.  Two libraries at once are wrong in any case. */
void blas_judge(const struct blas *blas, int reason, const char *libraries, const char *threading);

/* The variable of the environment that chose its kernels in place of this CPU; NULL: none. */
const char *blas_chosen_by(const struct blas *blas);

/* "OpenBLAS 0.3.21 ..., threading: none", for messages */
const char *blas_text(const struct blas *blas);

/* Writes "blas" of the record. */
void blas_write(const struct blas *blas);
