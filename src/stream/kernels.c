#include "kernels.h"

#include "share.h"

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

void kernels_first_touch(const struct arrays *arrays)
{
	const element start = arrays_start_value();

#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);
		size_t i;

		for (i = mine.first; i < mine.first + mine.size; i++) {
			arrays->of[0][i] = start;
			arrays->of[1][i] = 2;
			arrays->of[2][i] = 0;
		}
	}
}

/* Words of an element's size or half of it, whatever lies there. */
typedef unsigned int __attribute__((may_alias)) word;

enum { WORDS = sizeof(element) / sizeof(word) };

static void turn(word *at, const word *bits, size_t elements)
{
	size_t i;
	int k;

	for (i = 0; i < elements; i++)
		for (k = 0; k < WORDS; k++)
			at[i * WORDS + (size_t)k] ^= bits[k];
}

void kernels_reset(const struct arrays *arrays)
{
	const element start = arrays_start_value();
	element expected[ARRAYS];

	arrays_expect(expected, RESET_EVERY);
	turn((word *)expected, (const word *)&start, 1);
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		turn((word *)(arrays->of[0] + mine.first), (const word *)expected, mine.size);
	}
}
