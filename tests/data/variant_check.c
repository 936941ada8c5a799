/*
 * Every tuned variant that runs on this CPU, against plain arithmetic.
 *
 * Unlike the program's own validation the elements differ from each other, so
 * that one taken from a wrong place shows, and the neighbours of what may be
 * written are watched.  Prints "N checks, M wrong" and the first wrong ones.
 */
#include "share.h"
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4200, GUARD = 64, OFFSETS = 8, ROOM = MOST + 2 * GUARD + OFFSETS };

static const size_t SIZES[] = { 1, 2, 3, 7, 63, 64, 65, 257, 1023, 4200 };
static const size_t SHIFTS[][3] = { { 0, 0, 0 }, { 1, 0, 3 }, { 3, 5, 1 }, { 5, 5, 5 } };
static const size_t DISTANCES[] = { 64, 8192 };
static const struct {
	enum split split;
	size_t block;
} SPLITS_TRIED[] = { { SPLIT_whole, 0 },     { SPLIT_blocks, 64 }, { SPLIT_blocks, 4096 },
		     { SPLIT_loaded, 1024 }, { SPLIT_dealt, 64 },  { SPLIT_dealt, 4096 } };
static const element SCALAR = (element)-1.5, UNTOUCHED = -77;
static const int OF[KERNELS][3] = { { 2, 0, 0 }, { 1, 2, 2 }, { 2, 0, 1 }, { 0, 1, 2 } };

static element memory[3][ROOM] __attribute__((aligned(64)));
static const char *const KERNEL_NAMES[KERNELS] = { "copy", "scale", "add", "triad" };
static long checks, wrong;

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static element value(int array, size_t i)
{
	return (element)((i * 2 + 3) * ((size_t)array + 1) % 8191);
}

static element expected(int kernel, size_t i)
{
	const element x = value(OF[kernel][1], i), y = value(OF[kernel][2], i);

	return kernel == 0 ? x : kernel == 1 ? SCALAR * x : kernel == 2 ? x + y : x + SCALAR * y;
}

/* Array `array` begins GUARD + shift elements into its memory. */
static void prepare(struct arrays *arrays, size_t n, const size_t shift[3], int out)
{
	size_t i;
	int k;

	for (k = 0; k < ARRAYS; k++) {
		for (i = 0; i < ROOM; i++)
			memory[k][i] = UNTOUCHED;
		arrays->of[k] = memory[k] + GUARD + shift[k];
		for (i = 0; i < n && k != out; i++)
			arrays->of[k][i] = value(k, i);
	}
	arrays->size = n;
	arrays->offset = 0;
	arrays->scalar = SCALAR;
}

static void report(const struct variant *variant, int kernel, size_t n, size_t i)
{
	char name[VARIANT_NAME_MAX];

	if (wrong++ < 5)
		printf("wrong: %s %s of %zu elements, at %ld\n", KERNEL_NAMES[kernel],
		       variants_name(variant, name), n, (long)i - GUARD);
}

static void compare(const struct arrays *arrays, const struct variant *variant, int kernel)
{
	const int out = OF[kernel][0];
	const size_t first = (size_t)(arrays->of[out] - memory[out]), n = arrays->size;
	size_t i;

	checks++;
	for (i = 0; i < ROOM; i++) {
		const int inside = i >= first && i < first + n;

		if (memory[out][i] == (inside ? expected(kernel, i - first) : UNTOUCHED))
			continue;
		report(variant, kernel, n, i);
		return;
	}
}

static void one_thread(const struct variant *variant, int kernel, size_t n, const size_t shift[3])
{
	struct arrays arrays;

	prepare(&arrays, n, shift, OF[kernel][0]);
	variants_span(variant, kernel, arrays.of[OF[kernel][0]], arrays.of[OF[kernel][1]],
		      arrays.of[OF[kernel][2]], SCALAR, n);
	variants_fence(variant);
	compare(&arrays, variant, kernel);
}

/* Whole, and in slices as the search does it. */
static void all_threads(const struct variant *variant, int kernel, size_t n)
{
	struct arrays arrays;
	size_t part;

	prepare(&arrays, n, SHIFTS[0], OF[kernel][0]);
	variants_run(variant, kernel, &arrays);
	compare(&arrays, variant, kernel);
	prepare(&arrays, n, SHIFTS[0], OF[kernel][0]);
	for (part = 0; part < 3; part++)
		variants_run_slice(variant, kernel, &arrays, part, 3);
	compare(&arrays, variant, kernel);
}

static void each_kernel(struct variant *variant)
{
	size_t size, shift, split;
	int k;

	for (k = 0; k < KERNELS; k++)
		for (size = 0; size < COUNT(SIZES); size++) {
			for (shift = 0; shift < COUNT(SHIFTS); shift++)
				one_thread(variant, k, SIZES[size], SHIFTS[shift]);
			for (split = 0; split < COUNT(SPLITS_TRIED) && size % 3 == 0; split++) {
				variant->split = SPLITS_TRIED[split].split;
				variant->block = SPLITS_TRIED[split].block;
				all_threads(variant, k, SIZES[size]);
			}
			variant->split = SPLIT_whole;
			variant->block = 0;
		}
}

/* The reading of the limits: each word once, none besides. */
static void each_read(void)
{
	const struct limit_member *limit;
	unsigned long long sum, word;
	struct arrays arrays;
	size_t at, n;
	int i;

	for (i = 0; (limit = variants_limit(i)) != NULL; i++) {
		if (!variants_width_here(limit->width))
			continue;
		n = MOST / limit->step * limit->step;
		prepare(&arrays, n, SHIFTS[0], 1);
		for (sum = at = 0; at < n; at += sizeof(word) / sizeof(element)) {
			memcpy(&word, arrays.of[0] + at, sizeof(word));
			sum += word;
		}
		checks++;
		if (limit->read(arrays.of[0], n) == sum)
			continue;
		wrong++;
		printf("wrong: read %s\n", variants_width_names[limit->width]);
	}
}

int main(void)
{
	const struct member *member;
	struct variant variant;
	size_t d;
	int i, members = 0;

	memset(&variant, 0, sizeof(variant));
	for (i = 0; (member = variants_member(i)) != NULL; i++) {
		if (!variants_runs_here(member))
			continue;
		members++;
		variant.member = member;
		for (d = 0; d < COUNT(DISTANCES); d++) {
			variant.ahead = member->prefetch == PREFETCHED_none ? 0 : DISTANCES[d];
			if (variant.ahead || d == 0)
				each_kernel(&variant);
		}
	}
	each_read();
	printf("%d members, %ld checks, %ld wrong\n", members, checks, wrong);
	return wrong != 0;
}
