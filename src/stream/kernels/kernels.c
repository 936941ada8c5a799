#include "kernels.h"

#include "../../harness/evidence/thread_range.h"

#include <string.h>

typedef element *__restrict written;
typedef const element *__restrict only_read;

const struct kernel kernels[KERNELS] = {
	{ "copy", "Copy:", 2, kernel_copy },
	{ "scale", "Scale:", 2, kernel_scale },
	{ "add", "Add:", 3, kernel_add },
	{ "triad", "Triad:", 3, kernel_triad },
};

static void copy(written c, only_read a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		c[i] = a[i];
}

static void scale(written b, only_read c, element s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		b[i] = s * c[i];
}

static void add(written c, only_read a, only_read b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		c[i] = a[i] + b[i];
}

static void triad(written a, only_read b, only_read c, element s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = b[i] + s * c[i];
}

NOINLINE void kernel_copy(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		copy(arrays->of[2] + mine.first, arrays->of[0] + mine.first, mine.size);
	}
}

NOINLINE void kernel_scale(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		scale(arrays->of[1] + mine.first, arrays->of[2] + mine.first, arrays->scalar,
		      mine.size);
	}
}

NOINLINE void kernel_add(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		add(arrays->of[2] + mine.first, arrays->of[0] + mine.first,
		    arrays->of[1] + mine.first, mine.size);
	}
}

NOINLINE void kernel_triad(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		triad(arrays->of[0] + mine.first, arrays->of[1] + mine.first,
		      arrays->of[2] + mine.first, arrays->scalar, mine.size);
	}
}

enum { PAGE_ELEMENTS = 4096 / sizeof(element) };

static void fill(element *at, element value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		at[i] = value;
}

/* A page is written while the caches still hold the zeros of its fault, by the widest stores that
 * libc has; the arrays in turn, as STREAM does. */
static void touch(const struct arrays *arrays, struct share mine, const element start[ARRAYS])
{
	element page[ARRAYS][PAGE_ELEMENTS];
	size_t done, now;
	int k;

	for (k = 0; k < ARRAYS; k++)
		fill(page[k], start[k], PAGE_ELEMENTS);
	for (done = 0; done < mine.size; done += now) {
		now = mine.size - done < PAGE_ELEMENTS ? mine.size - done : PAGE_ELEMENTS;
		for (k = 0; k < ARRAYS; k++)
			memcpy(arrays->of[k] + mine.first + done, page[k], now * sizeof(element));
	}
}

void kernels_first_touch(const struct arrays *arrays)
{
	const element start[ARRAYS] = { arrays_start_value(), 2, 0 };

#pragma omp parallel
	touch(arrays, share_of_thread(arrays->size), start);
}

static unsigned long long bits_at(const element *at)
{
	unsigned long long bits = 0;

	memcpy(&bits, at, sizeof(*at));
	return bits;
}

static void turn(element *at, size_t size, unsigned long long bits)
{
	size_t i;

	for (i = 0; i < size; i++) {
		const unsigned long long turned = bits_at(&at[i]) ^ bits;

		memcpy(&at[i], &turned, sizeof(*at));
	}
}

void kernels_reset(const struct arrays *arrays)
{
	const element start = arrays_start_value();
	element expected[ARRAYS];
	unsigned long long bits;

	arrays_expect(expected, RESET_EVERY);
	bits = bits_at(&start) ^ bits_at(&expected[0]);
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		turn(arrays->of[0] + mine.first, mine.size, bits);
	}
}
