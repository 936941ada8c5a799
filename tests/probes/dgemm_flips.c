/*
 * dgemm_flips: every bit of every element of a product, flipped one at a time, and pairs of wrong
 * elements that cancel in the sum of their column: is it found, and the right one named?
 *
 * prints "found NAMED of FLIPS, pairs FOUND of PAIRS"
 */
#include "../../src/harness/harness.c"

#include "../../src/dgemm/matrices.c"
#include "../../src/dgemm/validate.c"

#include "../data/plain_dgemm.c"

enum { M = 19, N = 13, K = 7 };

static int is_found(const struct matrices *x, size_t i, size_t j)
{
	struct wrong wrong;

	validate(&wrong, x);
	return wrong.columns == 1 && wrong.row == i && wrong.column == j;
}

int main(void)
{
	const int m = M, n = N, k = K;
	const double one = 1;
	int flips = 0, found = 0, pairs = 0, pairs_found = 0, lda, ldb, ldc, bit;
	struct matrices x;
	struct wrong wrong;
	size_t i, j;

	matrices_make(&x, M, N, K);
	lda = (int)x.leading[MATRIX_A];
	ldb = (int)x.leading[MATRIX_B];
	ldc = (int)x.leading[MATRIX_C];
	for (x.times_added = 0; x.times_added < 3; x.times_added++)
		dgemm_("N", "N", &m, &n, &k, &one, x.of[MATRIX_A], &lda, x.of[MATRIX_B], &ldb,
		       &one, x.of[MATRIX_C], &ldc);
	validate(&wrong, &x);
	if (wrong.columns) {
		printf("%zu columns wrong where nothing is\n", wrong.columns);
		return 1;
	}
	for (j = 0; j < N; j++)
		for (i = 0; i < M; i++) {
			double *const c = &x.of[MATRIX_C][j * x.leading[MATRIX_C] + i];
			const double right = *c;

			for (bit = 0; bit < 64; bit++, flips++) {
				unsigned long long bits;

				memcpy(&bits, c, sizeof(bits));
				bits ^= 1ULL << bit;
				memcpy(c, &bits, sizeof(bits));
				found += is_found(&x, i, j);
				*c = right;
			}
			if (i + 1 == M)
				continue;
			c[0] += 5;
			c[1] -= 5;
			pairs++;
			pairs_found += is_found(&x, i, j);
			c[0] = right;
			c[1] += 5;
		}
	printf("found %d of %d, pairs %d of %d\n", found, flips, pairs_found, pairs);
	return 0;
}
