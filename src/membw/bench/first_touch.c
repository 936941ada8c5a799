/*
 * How long setting up the arrays takes, beside what their page faults must.
 *
 * usage: first_touch free | BYTES ours|faults
 * Prints the bytes that may be taken; or sets up three arrays of BYTES in all by
 * the program's own first touch, or writes one word of each page alone, with the
 * same threads and shares, and prints the seconds.
 */
#include "../../harness/harness.c"
#include "../../stream/kernels/arrays.c"
#include "../../stream/kernels/expect.c"
#include "../../stream/kernels/kernels.c"
#include "../../stream/kernels/start_values.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void one_word_a_page(const struct arrays *arrays)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(element);

#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);
		size_t i;
		int k;

		for (k = 0; k < ARRAYS; k++)
			for (i = mine.first; i < mine.first + mine.size; i += page)
				arrays->of[k][i] = 1;
	}
}

int main(int argc, char **argv)
{
	struct arrays arrays;
	double began;

	if (argc == 2 && strcmp(argv[1], "free") == 0) {
		printf("%zu\n", memory_available());
		return 0;
	}
	if (argc != 3)
		return 2;
	arrays_create(&arrays, strtoull(argv[1], NULL, 10) / ARRAYS / sizeof(element), 0,
		      PAGES_DEFAULT);
	began = clock_now();
	if (strcmp(argv[2], "ours") == 0)
		kernels_first_touch(&arrays);
	else
		one_word_a_page(&arrays);
	printf("%.3f\n", clock_now() - began);
	return 0;
}
