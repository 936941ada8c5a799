#include "bodies.h"

#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/openmp.h"

const char *const precision_names[PRECISIONS] = { "float", "double" };

/* From 0 to below 1, by Knuth's MMIX sequence: number I of the sequence has no state. */
static double place_of(long i, int axis)
{
	unsigned long long x = (unsigned long long)(3 * i + axis + 1) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 32;
	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	x ^= x >> 29;
	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(x >> 40) / (double)(1 << 24);
}

static void *aligned_room(const struct bodies *b)
{
	void *room;

	if (posix_memalign(&room, LINES_APART, (size_t)b->count * bodies_element(b)) != 0)
		die("no memory for %ld bodies", "give fewer with '--bodies'", b->count);
	return room;
}

static void set(const struct bodies *b, void *array, long i, double value)
{
	if (b->precision == SINGLE)
		((float *)array)[i] = (float)value;
	else
		((double *)array)[i] = value;
}

void bodies_start(struct bodies *b, enum precision precision, long count)
{
	int axis;
	long i;

	b->precision = precision;
	b->count = count;
	b->m = aligned_room(b);
	for (axis = 0; axis < 3; axis++) {
		b->x[axis] = aligned_room(b);
		b->a[axis] = aligned_room(b);
	}
#pragma omp parallel for schedule(static) private(axis)
	for (i = 0; i < count; i++) {
		set(b, b->m, i, 1.0 / (double)count);
		for (axis = 0; axis < 3; axis++) {
			set(b, b->x[axis], i, place_of(i, axis));
			set(b, b->a[axis], i, 0);
		}
	}
}

void bodies_end(struct bodies *b)
{
	int axis;

	for (axis = 0; axis < 3; axis++) {
		free(b->x[axis]);
		free(b->a[axis]);
	}
	free(b->m);
}

size_t bodies_element(const struct bodies *b)
{
	return b->precision == SINGLE ? sizeof(float) : sizeof(double);
}

double bodies_number(const struct bodies *b, const void *array, long i)
{
	return b->precision == SINGLE ? (double)((const float *)array)[i]
				      : ((const double *)array)[i];
}

void bodies_add(const struct bodies *b, void *array, long i, double more)
{
	if (b->precision == SINGLE)
		((float *)array)[i] += (float)more;
	else
		((double *)array)[i] += more;
}

double bodies_momentum(const struct bodies *b)
{
	double sum[3] = { 0, 0, 0 }, all = 0;
	int axis;
	long i;

	for (i = 0; i < b->count; i++) {
		double square = 0;

		for (axis = 0; axis < 3; axis++) {
			const double a = bodies_number(b, b->a[axis], i);

			sum[axis] += a;
			square += a * a;
		}
		all += square_root(square);
	}
	if (!is_positive(all))
		return 1;
	return square_root(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / all;
}

double bodies_difference(const struct bodies *b, void *const compared[3])
{
	double largest = 0, difference = 0;
	int axis;
	long i;

	for (axis = 0; axis < 3; axis++)
		for (i = 0; i < b->count; i++) {
			const double a = bodies_number(b, b->a[axis], i);
			const double off = absolute(a - bodies_number(b, compared[axis], i));

			largest = absolute(a) > largest ? absolute(a) : largest;
			difference = off > difference ? off : difference;
		}
	return largest > 0 ? difference / largest : 1;
}
