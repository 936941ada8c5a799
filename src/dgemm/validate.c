#include "validate.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/openmp.h"
#include "../harness/verdict.h"

enum { VECTORS = 3 };

typedef unsigned long long validate_u64;

static validate_u64 validate_seed;

/* Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014. */
static validate_u64 random_odd(validate_u64 place)
{
	validate_u64 z = validate_seed + (place + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) | 1;
}

static validate_u64 *make_vectors(size_t length)
{
	return room_for(length, VECTORS * sizeof(validate_u64), "numbers", "give less with '-n'");
}

static validate_u64 entry_modulo(enum matrix matrix, size_t i, size_t j)
{
	return (validate_u64)(long long)matrices_entry(matrix, i, j);
}

/* v A, of what A must hold, not of what memory says that it does. */
static void multiply_vectors(validate_u64 *va, const validate_u64 *v, const struct matrices *x)
{
	const long columns = (long)x->k;
	long p;

#pragma omp parallel for schedule(static)
	for (p = 0; p < columns; p++) {
		validate_u64 sum[VECTORS] = { 0 };
		size_t i;
		int r;

		for (i = 0; i < x->m; i++)
			for (r = 0; r < VECTORS; r++)
				sum[r] += v[VECTORS * i + (size_t)r] *
					  entry_modulo(MATRIX_A, i, (size_t)p);
		for (r = 0; r < VECTORS; r++)
			va[VECTORS * (size_t)p + (size_t)r] = sum[r];
	}
}

/* 0 where it is no whole number, or -0 or NaN: no sum of these products is. */
static int whole(double value, long long *as_whole)
{
	double back;

	if (value <= -9007199254740992.0 || value >= 9007199254740992.0)
		return 0;
	*as_whole = (long long)value;
	back = (double)*as_whole;
	return memcmp(&back, &value, sizeof(back)) == 0;
}

static int is_right_column(size_t j, const struct matrices *x, const validate_u64 *v,
			   const validate_u64 *va)
{
	const double *const c = x->of[MATRIX_C] + j * x->leading[MATRIX_C];
	const validate_u64 times = (validate_u64)x->times_added;
	validate_u64 sum[VECTORS] = { 0 };
	size_t i, p;
	int r;

	for (i = 0; i < x->m; i++) {
		validate_u64 too_much;
		long long value;

		if (!whole(c[i], &value))
			return 0;
		too_much = (validate_u64)value - entry_modulo(MATRIX_C, i, j);
		for (r = 0; r < VECTORS; r++)
			sum[r] += v[VECTORS * i + (size_t)r] * too_much;
	}
	for (p = 0; p < x->k; p++)
		for (r = 0; r < VECTORS; r++)
			sum[r] -=
				times * va[VECTORS * p + (size_t)r] * entry_modulo(MATRIX_B, p, j);
	for (r = 0; r < VECTORS; r++)
		if (sum[r])
			return 0;
	return 1;
}

static double expected_element(const struct matrices *x, size_t i, size_t j)
{
	double sum = 0;
	size_t p;

	for (p = 0; p < x->k; p++)
		sum += matrices_entry(MATRIX_A, i, p) * matrices_entry(MATRIX_B, p, j);
	return matrices_entry(MATRIX_C, i, j) + x->times_added * sum;
}

/* The first wrong row of a column that is known to have one. */
static void locate(struct wrong *wrong, const struct matrices *x)
{
	const double *const c = x->of[MATRIX_C] + wrong->column * x->leading[MATRIX_C];
	size_t i;

	for (i = 0; i < x->m; i++) {
		wrong->row = i;
		wrong->actual = c[i];
		wrong->expected = expected_element(x, i, wrong->column);
		if (memcmp(&wrong->expected, &wrong->actual, sizeof(double)) != 0)
			return;
	}
}

void validate(struct wrong *wrong, const struct matrices *x)
{
	validate_u64 *const v = make_vectors(x->m), *const va = make_vectors(x->k);
	const long columns = (long)x->n;
	size_t count = 0, first = x->n, i;
	long j;

	memset(wrong, 0, sizeof(*wrong));
	validate_seed = (validate_u64)(1e9 * clock_now());
	for (i = 0; i < VECTORS * x->m; i++)
		v[i] = random_odd(i);
	multiply_vectors(va, v, x);
#pragma omp parallel for schedule(static) reduction(+ : count)
	for (j = 0; j < columns; j++) {
		if (is_right_column((size_t)j, x, v, va))
			continue;
		count++;
#pragma omp critical
		if ((size_t)j < first)
			first = (size_t)j;
	}
	wrong->columns = count;
	wrong->of = x->n;
	wrong->column = first;
	if (count)
		locate(wrong, x);
	free(v);
	free(va);
}

void validate_judge(const struct wrong *wrong, const char *name)
{
	if (wrong->columns)
		verdict_invalid(NOT_VALIDATED,
				"%s: %zu of %zu columns of C are wrong, the first in row %zu of "
				"column %zu: %.17g (0x%016llx), not %.17g (0x%016llx)",
				name, wrong->columns, wrong->of, wrong->row, wrong->column,
				wrong->actual, bits_of(&wrong->actual, sizeof(double)),
				wrong->expected, bits_of(&wrong->expected, sizeof(double)));
}
