/*
 * stores: Triad by both kinds of stores at awkward sizes and addresses, against plain arithmetic,
 * with guards around what is written.  Prints how many loops there are, and how many elements are
 * wrong.
 */
#include "../../src/stream/looks/stores.c"

enum { GUARD = 40, MOST = 300 };

static int wrong_of(enum store store, size_t n, size_t shift)
{
	static element a[MOST + 2 * GUARD] __attribute__((aligned(64))), b[MOST + GUARD],
		c[MOST + GUARD];
	size_t i;
	int wrong = 0;

	for (i = 0; i < MOST + 2 * GUARD; i++)
		a[i] = -1;
	for (i = 0; i < MOST + GUARD; i++) {
		b[i] = (element)(i + 1);
		c[i] = (element)(3 * i);
	}
	stores_triad(store, a + GUARD + shift, b + shift, c + shift / 2, (element)-1.5, n);
	for (i = 0; i < MOST + 2 * GUARD; i++) {
		const size_t k = i - GUARD - shift;

		wrong += a[i] != (k < n ? b[k + shift] + (element)-1.5 * c[k + shift / 2] : -1);
	}
	return wrong;
}

int main(void)
{
	int store, loops = 0, wrong = 0;
	size_t n, shift;

	for (store = 0; store < STORES; store++)
		for (n = 0; stores_has((enum store)store) && n <= MOST; n += 1 + n / 20)
			for (shift = 0; shift < GUARD; shift++, loops += n == 0 && shift == 1)
				wrong += wrong_of((enum store)store, n, shift);
	printf("%d %d\n", loops, wrong);
	return wrong > 0;
}
