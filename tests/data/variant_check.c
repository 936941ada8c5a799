/*
 * Every tuned variant that runs on this CPU, against plain arithmetic.
 *
 * Unlike the program's own validation the elements differ from each other, so
 * that one taken from a wrong place shows, and the neighbours of what may be
 * written are watched.  Prints "N variants, M checks, K wrong" and the first wrong
 * ones.
 */
#include "tuned/variants.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 4200, GUARD = 64, OFFSETS = 8, ROOM = MOST + 2 * GUARD + OFFSETS };

static const size_t SIZES[] = { 1, 2, 3, 7, 63, 64, 65, 257, 1023, 4200 };
static const size_t SHIFTS[][3] = { { 0, 0, 0 }, { 1, 0, 3 }, { 3, 5, 1 }, { 5, 5, 5 } };
static const size_t DISTANCES[] = { 64, 8192 };
static const element UNTOUCHED = -77;

static element memory[3][ROOM] __attribute__((aligned(64)));
static long checks, wrong;

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static element value(int array, size_t i)
{
	return (element)((i * 2 + 3) * ((size_t)array + 1) % 8191);
}

static element expected(int kernel, size_t i)
{
	const element a = value(0, i), b = value(1, i), c = value(2, i);

	switch (kernel) {
	case KERNEL_copy:
		return a;
	case KERNEL_scale:
		return SCALAR * c;
	case KERNEL_add:
		return a + b;
	default:
		return b + SCALAR * c;
	}
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
		printf("wrong: %s %s of %zu elements, at %ld\n", kernels[kernel].name,
		       variants_name(variant, name), n, (long)i - GUARD);
}

static void compare(const struct arrays *arrays, const struct variant *variant, int kernel)
{
	const int out = kernels[kernel].writes;
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
	const struct kernel *k = &kernels[kernel];
	struct arrays arrays;

	prepare(&arrays, n, shift, k->writes);
	variants_span(variant, kernel, arrays.of[k->writes], arrays.of[k->reads[0]],
		      arrays.of[k->reads[k->loads - 1]], SCALAR, n);
	variants_fence(variant);
	compare(&arrays, variant, kernel);
}

/* Whole, and in slices as --tune does it. */
static void all_threads(const struct variant *variant, int kernel, size_t n)
{
	struct arrays arrays;
	size_t part;

	prepare(&arrays, n, SHIFTS[0], kernels[kernel].writes);
	variants_run(variant, kernel, &arrays);
	compare(&arrays, variant, kernel);
	prepare(&arrays, n, SHIFTS[0], kernels[kernel].writes);
	for (part = 0; part < 3; part++)
		variants_run_slice(variant, kernel, &arrays, part, 3);
	compare(&arrays, variant, kernel);
}

static void each_kernel(const struct variant *variant)
{
	size_t size, shift;
	int k;

	for (k = 0; k < KERNELS; k++)
		for (size = 0; size < COUNT(SIZES) && variants_has(k); size++) {
			for (shift = 0; shift < COUNT(SHIFTS); shift++)
				one_thread(variant, k, SIZES[size], SHIFTS[shift]);
			all_threads(variant, k, SIZES[size]);
		}
}

static void each_distance(const struct tuned_kernel *compiled)
{
	struct variant variant;
	size_t d;

	variant.compiled = compiled;
	for (d = 0; d < COUNT(DISTANCES); d++) {
		variant.ahead = compiled->prefetch == PREFETCHED_none ? 0 : DISTANCES[d];
		if (variant.ahead || d == 0)
			each_kernel(&variant);
	}
}

int main(void)
{
	const struct tuned_kernel *compiled;
	int i, count = 0;

	for (i = 0; (compiled = variants_compiled(i)) != NULL; i++) {
		if (!variants_runs_here(compiled))
			continue;
		count++;
		each_distance(compiled);
	}
	printf("%d variants, %ld checks, %ld wrong\n", count, checks, wrong);
	return wrong != 0;
}
