/* A dgemm as it is defined, for tests on machines and architectures without a BLAS; with -DLAZY
 * one that does nothing, fast. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
	    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
	    const double *beta, double *c, const int *ldc)
{
#ifndef LAZY
	int i, j, p;

	for (j = 0; j < *n; j++)
		for (i = 0; i < *m; i++) {
			double sum = 0;

			for (p = 0; p < *k; p++)
				sum += a[i + (long)p * *lda] * b[p + (long)j * *ldb];
			c[i + (long)j * *ldc] = *alpha * sum + *beta * c[i + (long)j * *ldc];
		}
#endif
	(void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda;
	(void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
}
