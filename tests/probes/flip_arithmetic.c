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
#include "error.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In place of the program's, which speaks for all ranks of a job. */
void die(const char *fact, const char *hint, ...)
{
	fprintf(stderr, "%s; %s\n", fact, hint);
	exit(2);
}

enum {
	BITS = 8 * sizeof(element),
	ITERATIONS = 4 * RESET_EVERY + 1,
	FOLLOW = 2 * RESET_EVERY + 1
};

/* What a kernel is about to read. */
static const int reads[][2] = { { 0, 0 }, { 1, 0 }, { 1, 2 }, { 2, 0 },
				{ 2, 1 }, { 3, 1 }, { 3, 2 } };

static unsigned long long bits_of(element value)
{
	unsigned char bytes[sizeof(element)];
	unsigned long long bits = 0;
	size_t i;

	memcpy(bytes, &value, sizeof(value));
	for (i = 0; i < sizeof(value); i++)
		bits |= (unsigned long long)bytes[i] << 8 * i;
	return bits;
}

static void flip(element *at, int bit)
{
	((unsigned char *)at)[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void run(const struct arrays *arrays, const int *read, int when, int last)
{
	int i, k, bit;

	kernels_first_touch(arrays);
	for (i = 0; i <= last; i++) {
		if (i > 0 && i % RESET_EVERY == 0)
			kernels_reset(arrays);
		for (k = 0; k < KERNELS; k++) {
			for (bit = 0; bit < BITS && i == when && k == read[0]; bit++)
				flip(&arrays->of[read[1]][bit], bit);
			kernels[k].run(arrays);
		}
	}
}

static void print(const struct arrays *arrays, const int *read, int when, int last)
{
	element expected[ARRAYS];
	int bit, k, found;

	arrays_expect(expected, last + 1);
	for (bit = 0; bit < BITS; bit++) {
		for (k = found = 0; k < ARRAYS; k++)
			found |= bits_of(arrays->of[k][bit]) != bits_of(expected[k]);
		printf("%s %c %d %d %d %d", kernels[read[0]].name, 'a' + read[1], bit, when, last,
		       found);
		for (k = 0; k < ARRAYS; k++)
			printf(" %llx", bits_of(arrays->of[k][bit]));
		for (k = 0; k < ARRAYS; k++)
			printf(" %llx", bits_of(expected[k]));
		printf("\n");
	}
}

int main(void)
{
	struct arrays arrays;
	size_t r;
	int when, last;

	arrays_create(&arrays, BITS, 0, PAGES_DEFAULT);
	for (r = 0; r < sizeof(reads) / sizeof(*reads); r++)
		for (when = 0; when < ITERATIONS - FOLLOW; when++)
			for (last = when; last <= when + FOLLOW; last++) {
				run(&arrays, reads[r], when, last);
				print(&arrays, reads[r], when, last);
			}
	return 0;
}
