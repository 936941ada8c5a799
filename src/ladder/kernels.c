#include "kernels.h"

#include "../harness/memory/wide.h"

/* The three arrays of Triad begin a third of a page apart, so that a store is not taken for a load
 * of the same place of another page. */
enum { APART = 1344, KERNEL_PAGE = 4096 };

static const uint64_t ODD = 0x9e3779b97f4a7c15;

static size_t array_bytes(size_t bytes)
{
	return bytes / 3 / WIDE_TRIAD_STEP * WIDE_TRIAD_STEP;
}

static size_t array_distance(size_t bytes)
{
	return (array_bytes(bytes) + KERNEL_PAGE - 1) / KERNEL_PAGE * KERNEL_PAGE + APART;
}

size_t kernel_bytes_counted(enum kernel kernel, size_t bytes)
{
	return kernel == KERNEL_READ ? bytes : 3 * array_bytes(bytes);
}

size_t kernel_bytes_needed(size_t bytes)
{
	return 2 * array_distance(bytes) + array_bytes(bytes) + KERNEL_PAGE;
}

static uint64_t word_of(size_t i)
{
	return (uint64_t)i * ODD;
}

/* Whole numbers, so that a = b + 3 c is exact in any order of arithmetic. */
static double element_of(int array, size_t i)
{
	const double b = (double)(i & 0xfffff), c = (double)(i >> 3 & 0xffff);

	return array == 1 ? b : array == 2 ? c : b + 3 * c;
}

static double *triad_array(char *memory, size_t bytes, int array)
{
	return (double *)(void *)(memory + (size_t)array * array_distance(bytes));
}

void kernel_fill(enum kernel kernel, char *memory, size_t bytes)
{
	const size_t count = array_bytes(bytes) / sizeof(double);
	uint64_t *const words = (uint64_t *)(void *)memory;
	size_t i;
	int array;

	if (kernel == KERNEL_READ) {
		for (i = 0; i < bytes / sizeof(*words); i++)
			words[i] = word_of(i);
		return;
	}
	for (array = 0; array < 3; array++) {
		double *const to = triad_array(memory, bytes, array);

		for (i = 0; i < count; i++)
			to[i] = array ? element_of(array, i) : -1;
	}
}

uint64_t kernel_run(enum kernel kernel, char *memory, size_t bytes, size_t passes)
{
	char *const b = (char *)triad_array(memory, bytes, 1);
	char *const c = (char *)triad_array(memory, bytes, 2);

	if (kernel == KERNEL_READ)
		return wide_read(memory, bytes, passes);
	wide_triad(memory, b, c, array_bytes(bytes), passes);
	return 0;
}

int kernel_is_right(enum kernel kernel, const char *memory, size_t bytes, size_t passes,
		    uint64_t got)
{
	const uint64_t words = bytes / sizeof(uint64_t); /* an even number */
	const size_t count = array_bytes(bytes) / sizeof(double);
	size_t i, wrong = 0;
	int array;

	if (kernel == KERNEL_READ)
		return got == words / 2 * (words - 1) * ODD * passes;
	for (array = 0; array < 3; array++) {
		const double *const is =
			(const double *)(const void *)(memory +
						       (size_t)array * array_distance(bytes));

		for (i = 0; i < count; i++)
			wrong += is[i] != element_of(array, i);
	}
	return !wrong;
}
