/*
 * flip_arithmetic: every flipped bit that a kernel reads, through the program's
 * own kernels, as they were compiled.
 *
 * Element i has bit i flipped, in one array at one point between two kernels;
 * then the iterations go on.  For every array, point and iteration, and every
 * later iteration that may be the last one, a line for each element:
 *
 *   kernel array bit iteration last found a b c, and the expected a b c (bits, hexadecimal)
 *
 * where kernel and iteration say what is about to begin.
 */
#include "../harness/elementary.h"
#include "kernels/expect.h"
#include "kernels/start_values.h"

enum { BITS = 8 * sizeof(element) };

/* Whether the array is read before it is written, by this kernel or those after it. */
static int is_read(int kernel, enum array array)
{
	int n, i;

	for (n = 0; n < KERNELS; n++) {
		const struct kernel *k = &kernels[(kernel + n) % KERNELS];

		for (i = 0; i < k->loads; i++)
			if (k->reads[i] == array)
				return 1;
		if (k->writes == array)
			return 0;
	}
	return 0;
}

static void flip(element *at, int bit)
{
	((unsigned char *)at)[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void run(const struct arrays *arrays, int kernel, enum array array, int when, int last)
{
	int i, k, bit;

	kernels_first_touch(arrays);
	for (i = 0; i <= last; i++) {
		if (i > 0 && i % expect_reset_every() == 0)
			kernels_reset(arrays);
		for (k = 0; k < KERNELS; k++) {
			for (bit = 0; bit < BITS && i == when && k == kernel; bit++)
				flip(&arrays->of[array][bit], bit);
			kernels[k].run(arrays);
		}
	}
}

static void print(const struct arrays *arrays, int kernel, enum array array, int when, int last)
{
	element expected[ARRAYS];
	int bit, k, found;

	expect_after(expected, last + 1);
	for (bit = 0; bit < BITS; bit++) {
		for (k = found = 0; k < ARRAYS; k++)
			found |= bits_of(&arrays->of[k][bit], sizeof(element)) !=
				 bits_of(&expected[k], sizeof(element));
		printf("%s %c %d %d %d %d", kernels[kernel].name, 'a' + (int)array, bit, when,
		       last, found);
		for (k = 0; k < ARRAYS; k++)
			printf(" %llx", bits_of(&arrays->of[k][bit], sizeof(element)));
		for (k = 0; k < ARRAYS; k++)
			printf(" %llx", bits_of(&expected[k], sizeof(element)));
		printf("\n");
	}
}

static void follow(const struct arrays *arrays, int kernel, enum array array)
{
	const int iterations = 4 * expect_reset_every() + 1, later = 2 * expect_reset_every() + 1;
	int when, last;

	for (when = 0; when < iterations - later; when++)
		for (last = when; last <= when + later; last++) {
			run(arrays, kernel, array, when, last);
			print(arrays, kernel, array, when, last);
		}
}

int main(void)
{
	struct arrays arrays;
	int kernel, array;

	arrays_create(&arrays, BITS, 0, PAGES_DEFAULT);
	for (kernel = 0; kernel < KERNELS; kernel++)
		for (array = 0; array < ARRAYS; array++)
			if (is_read(kernel, (enum array)array))
				follow(&arrays, kernel, (enum array)array);
	return 0;
}
