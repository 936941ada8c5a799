/*
 * Every tuned variant that runs on this CPU, against plain arithmetic.
 *
 * Unlike the program's own validation the elements differ from each other, so
 * that one taken from a wrong place shows, and the neighbours of what may be
 * written are watched.  Prints "N variants, M checks, K wrong" and the first wrong
 * ones.  With an argument: the same of variants that are broken on purpose, a line
 * for each way of being so, with the number of checks that caught it.
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
static int quiet;

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

	if (wrong++ < 5 && !quiet)
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

/* Whole, and in slices as the search does it. */
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

/* The reading of the limits: each word once, none besides. */
static void check_read(const struct limit_kernel *limit, sum_part *read)
{
	unsigned long long sum, word;
	struct arrays arrays;
	const size_t n = MOST / limit->step * limit->step;
	size_t at;

	prepare(&arrays, n, SHIFTS[0], 1);
	for (sum = at = 0; at < n; at += sizeof(word) / sizeof(element)) {
		memcpy(&word, arrays.of[0] + at, sizeof(word));
		sum += word;
	}
	checks++;
	if (read(arrays.of[0], n) == sum)
		return;
	wrong++;
	if (!quiet)
		printf("wrong: read %s\n", variants_width_names[limit->width]);
}

static const struct limit_kernel *a_limit(int *i)
{
	const struct limit_kernel *limit;

	while ((limit = variants_limit(*i)) != NULL && !variants_width_here(limit->width))
		++*i;
	++*i;
	return limit;
}

/* --- broken on purpose --- */

static stream_part *right[KERNELS];
static sum_part *right_sum;
static int kernel_broken;

static void leaves_out_the_last(element *out, const element *x, const element *y, element s,
				size_t part, size_t ahead)
{
	right[kernel_broken](out, x, y, s, part, ahead);
	if (part)
		out[part - 1] = UNTOUCHED;
}

static void writes_one_too_many(element *out, const element *x, const element *y, element s,
				size_t part, size_t ahead)
{
	right[kernel_broken](out, x, y, s, part, ahead);
	out[2 * part] = 1;
}

static void reads_the_first_stream_twice(element *out, const element *x, const element *y,
					 element s, size_t part, size_t ahead)
{
	right[kernel_broken](out, x, y, s, part, ahead);
	memcpy(out + part, out, part * sizeof(element));
}

static void forgets_the_factor(element *out, const element *x, const element *y, element s,
			       size_t part, size_t ahead)
{
	right[kernel_broken](out, x, y, s / s, part, ahead);
}

static void reads_x_for_y(element *out, const element *x, const element *y, element s, size_t part,
			  size_t ahead)
{
	(void)y;
	right[kernel_broken](out, x, x, s, part, ahead);
}

static unsigned long long reads_a_word_twice(const element *x, size_t n)
{
	unsigned long long word[2];

	memcpy(word, x, sizeof(word));
	return right_sum(x, n) - word[1] + word[0];
}

static const struct {
	const char *name;
	stream_part *run;
} BROKEN[] = {
	{ "leaves-out-the-last", leaves_out_the_last },
	{ "writes-one-too-many", writes_one_too_many },
	{ "reads-the-first-stream-twice", reads_the_first_stream_twice },
	{ "forgets-the-factor", forgets_the_factor },
	{ "reads-x-for-y", reads_x_for_y },
};

/* Triad, which has all that can be broken, of two streams. */
static void each_broken(void)
{
	const struct tuned_kernel *compiled;
	const struct limit_kernel *limit;
	struct tuned_kernel broken;
	struct variant variant = { &broken, 0 };
	size_t b, size;
	int i = 0;

	quiet = 1;
	while ((compiled = variants_compiled(i)) != NULL &&
	       !(compiled->streams == 2 && variants_runs_here(compiled)))
		i++;
	broken = *compiled;
	memcpy(right, broken.run, sizeof(right));
	kernel_broken = KERNEL_triad;
	for (b = 0; b < COUNT(BROKEN); b++) {
		broken.run[KERNEL_triad] = BROKEN[b].run;
		for (wrong = 0, size = 0; size < COUNT(SIZES); size++)
			one_thread(&variant, KERNEL_triad, SIZES[size], SHIFTS[0]);
		printf("%s %ld\n", BROKEN[b].name, wrong);
	}
	i = 0;
	limit = a_limit(&i);
	right_sum = limit->read;
	wrong = 0;
	check_read(limit, reads_a_word_twice);
	printf("reads-a-word-twice %ld\n", wrong);
}

int main(int argc, char **argv)
{
	const struct tuned_kernel *compiled;
	const struct limit_kernel *limit;
	int i, count = 0;

	(void)argv;
	if (argc > 1) {
		each_broken();
		return 0;
	}
	for (i = 0; (compiled = variants_compiled(i)) != NULL; i++) {
		if (!variants_runs_here(compiled))
			continue;
		count++;
		each_distance(compiled);
	}
	for (i = 0; (limit = a_limit(&i)) != NULL;)
		check_read(limit, limit->read);
	printf("%d variants, %ld checks, %ld wrong\n", count, checks, wrong);
	return wrong != 0;
}
