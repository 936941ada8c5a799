#include "validate.h"

#include "../../harness/verdict.h"
#include "expect.h"

/* Elements compared at once, by memcmp: as fast as memory whatever the flags,
 * while nothing is wrong. */
enum { BLOCK = 1024 };

static int is_before(const struct wrong *x, const struct wrong *y)
{
	return x->array != y->array ? x->array < y->array : x->index < y->index;
}

/* Keeps the list sorted; the last one drops out of a full list. */
static void list(struct validation *v, const struct wrong *wrong)
{
	int at = v->listed;

	if (at == LISTED_MAX && !is_before(wrong, &v->first[--at]))
		return;
	for (; at > 0 && is_before(wrong, &v->first[at - 1]); at--)
		v->first[at] = v->first[at - 1];
	v->first[at] = *wrong;
	if (v->listed < LISTED_MAX)
		v->listed++;
}

static void list_block(struct validation *v, const struct arrays *arrays, int array, size_t from,
		       size_t size)
{
	struct wrong wrong;
	size_t i;

	wrong.array = array;
	wrong.expected = v->expected[array];
	for (i = from; i < from + size; i++) {
		wrong.found = arrays->of[array][i];
		wrong.index = i;
		if (memcmp(&wrong.found, &wrong.expected, sizeof(element)) == 0)
			continue;
		v->wrong++;
		list(v, &wrong);
	}
}

static void check_share(struct validation *v, const struct arrays *arrays, int array)
{
	const struct share mine = share_of_thread(arrays->size);
	element block[BLOCK];
	size_t done, size;

	for (size = 0; size < BLOCK; size++)
		block[size] = v->expected[array];
	for (done = 0; done < mine.size; done += size) {
		const size_t from = mine.first + done;

		size = mine.size - done < BLOCK ? mine.size - done : BLOCK;
		if (memcmp(arrays->of[array] + from, block, size * sizeof(element)) == 0)
			continue;
#pragma omp critical
		list_block(v, arrays, array, from, size);
	}
}

static void check_arrays(struct validation *v, const struct arrays *arrays)
{
	int k;

	for (k = 0; k < ARRAYS; k++) {
#pragma omp parallel
		check_share(v, arrays, k);
	}
}

size_t validate_filled(const struct arrays *arrays, element value)
{
	struct validation v;
	int k;

	memset(&v, 0, sizeof(v));
	for (k = 0; k < ARRAYS; k++)
		v.expected[k] = value;
	check_arrays(&v, arrays);
	return v.wrong;
}

NOINLINE void validate_arrays(struct validation *v, const struct arrays *arrays, int iterations)
{
	memset(v, 0, sizeof(*v));
	expect_after(v->expected, iterations);
	check_arrays(v, arrays);
	if (v->wrong)
		verdict_invalid(NOT_VALIDATED, "%zu elements differ from the expected value",
				v->wrong);
}
