#include "start_values.h"

#include "expect.h"

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
	element start[ARRAYS];

	expect_start(start);
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
	element start[ARRAYS], expected[ARRAYS];
	int k;

	expect_start(start);
	expect_after(expected, expect_reset_every());
	for (k = 0; k < ARRAYS; k++) {
		const unsigned long long bits = bits_at(&start[k]) ^ bits_at(&expected[k]);

		if (!expect_is_carried((enum array)k))
			continue;
#pragma omp parallel
		{
			const struct share mine = share_of_thread(arrays->size);

			turn(arrays->of[k] + mine.first, mine.size, bits);
		}
	}
}
