#include "matrices.h"

#include "../harness/memory/map.h"
#include "../harness/openmp.h"

#include <sys/mman.h>

typedef unsigned long long dgemm_u64;

/* Columns do not begin at a multiple of a page: that would be the same lines of every cache. */
static size_t leading_of(size_t rows)
{
	const size_t even = (rows + 7) / 8 * 8;

	return even % 512 ? even : even + 8;
}

static size_t columns_of(const struct matrices *x, enum matrix matrix)
{
	return matrix == MATRIX_A ? x->k : x->n;
}

static size_t rows_of(const struct matrices *x, enum matrix matrix)
{
	return matrix == MATRIX_B ? x->k : x->m;
}

double matrices_bytes(size_t m, size_t n, size_t k)
{
	return 8.0 * ((double)leading_of(m) * (double)(k + n) + (double)leading_of(k) * (double)n);
}

/* The top bits of a product with an odd number are as good as random (D. E. Knuth, The Art of
 * Computer Programming, volume 3, section 6.4). */
int matrices_entry(enum matrix matrix, size_t i, size_t j)
{
	dgemm_u64 mixed = (dgemm_u64)i * 0x9e3779b97f4a7c15ULL +
			  (dgemm_u64)j * 0xd1b54a32d192ed03ULL + (dgemm_u64)matrix;

	mixed ^= mixed >> 29;
	mixed *= 0xbf58476d1ce4e5b9ULL;
	return (int)(mixed >> 60) - 8;
}

static void fill(const struct matrices *x, enum matrix matrix)
{
	const long columns = (long)columns_of(x, matrix);
	const size_t rows = rows_of(x, matrix), leading = x->leading[matrix];
	double *const of = x->of[matrix];
	long j;

#pragma omp parallel for schedule(static)
	for (j = 0; j < columns; j++) {
		size_t i;

		for (i = 0; i < rows; i++)
			of[(size_t)j * leading + i] = matrices_entry(matrix, i, (size_t)j);
	}
}

void matrices_make(struct matrices *x, size_t m, size_t n, size_t k)
{
	int matrix;

	memset(x, 0, sizeof(*x));
	x->m = m;
	x->n = n;
	x->k = k;
	for (matrix = 0; matrix < MATRICES; matrix++) {
		x->leading[matrix] = leading_of(rows_of(x, (enum matrix)matrix));
		x->bytes[matrix] =
			sizeof(double) * x->leading[matrix] * columns_of(x, (enum matrix)matrix);
		x->of[matrix] = (double *)map_memory(x->bytes[matrix], PAGES_DEFAULT);
		fill(x, (enum matrix)matrix);
	}
}

void matrices_free(struct matrices *x)
{
	int matrix;

	for (matrix = 0; matrix < MATRICES; matrix++)
		munmap(x->of[matrix], x->bytes[matrix]);
}
