/*
 * usage: shares ELEMENTS THREADS: how far an array is from the next, in bytes; the first element
 * of each thread's share; the end of the last one.
 */
#include "harness/harness.c"
#include "stream/kernels/arrays.c"
#include "stream/kernels/expect.c"
#include "stream/kernels/kernels.c"

int main(int argc, char **argv)
{
	const size_t size = strtoul(argv[argc - 2], NULL, 10);
	const size_t threads = strtoul(argv[argc - 1], NULL, 10);
	struct arrays arrays;
	size_t t, end = 0;

	arrays_create(&arrays, size, 0, PAGES_DEFAULT);
	printf("%zu", (size_t)((char *)arrays.of[ARRAY_b] - (char *)arrays.of[ARRAY_a]));
	for (t = 0; t < threads; t++) {
		const struct share share = share_of(size, t, threads);

		printf(" %zu", share.first);
		end = share.first + share.size;
	}
	printf(" %zu\n", end);
	return 0;
}
