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

static void *aligned_room(long count, size_t element)
{
	void *room;

	if (posix_memalign(&room, LINES_APART, (size_t)count * element) != 0)
		die("no memory for %ld bodies", "give fewer with '--bodies'", count);
	return room;
}

#define PLACE(real, b)                                            \
	do {                                                      \
		(b)->count = count;                               \
		(b)->x = aligned_room(count, sizeof(real));       \
		(b)->y = aligned_room(count, sizeof(real));       \
		(b)->z = aligned_room(count, sizeof(real));       \
		(b)->m = aligned_room(count, sizeof(real));       \
		(b)->ax = aligned_room(count, sizeof(real));      \
		(b)->ay = aligned_room(count, sizeof(real));      \
		(b)->az = aligned_room(count, sizeof(real));      \
		PLACE_EACH                                        \
		for (i = 0; i < count; i++) {                     \
			(b)->x[i] = (real)place_of(i, 0);         \
			(b)->y[i] = (real)place_of(i, 1);         \
			(b)->z[i] = (real)place_of(i, 2);         \
			(b)->m[i] = (real)1 / (real)count;        \
			(b)->ax[i] = (b)->ay[i] = (b)->az[i] = 0; \
		}                                                 \
	} while (0)
#define PLACE_EACH _Pragma("omp parallel for schedule(static)")

static void place_single(struct bodies_float *b, long count)
{
	long i;

	PLACE(float, b);
}

static void place_double(struct bodies_double *b, long count)
{
	long i;

	PLACE(double, b);
}

void bodies_start(struct bodies *b, enum precision precision, long count)
{
	memset(b, 0, sizeof(*b));
	b->precision = precision;
	b->count = count;
	if (precision == SINGLE)
		place_single(&b->single, count);
	else
		place_double(&b->twice, count);
}

void bodies_end(struct bodies *b)
{
	int axis;

	for (axis = 0; axis < 3; axis++) {
		free(bodies_place(b, axis));
		free(bodies_acceleration(b, axis));
	}
	free(b->precision == SINGLE ? (void *)b->single.m : (void *)b->twice.m);
}

long bodies_groups(const struct bodies *b)
{
	return b->count / GROUP;
}

void bodies_forces(const struct bodies *b, long first, long last)
{
	if (b->precision == SINGLE)
		forces_float(&b->single, first, last);
	else
		forces_double(&b->twice, first, last);
}

void *bodies_place(const struct bodies *b, int axis)
{
	float *const single[] = { b->single.x, b->single.y, b->single.z };
	double *const twice[] = { b->twice.x, b->twice.y, b->twice.z };

	return b->precision == SINGLE ? (void *)single[axis] : (void *)twice[axis];
}

void *bodies_acceleration(const struct bodies *b, int axis)
{
	float *const single[] = { b->single.ax, b->single.ay, b->single.az };
	double *const twice[] = { b->twice.ax, b->twice.ay, b->twice.az };

	return b->precision == SINGLE ? (void *)single[axis] : (void *)twice[axis];
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
			const double a = bodies_number(b, bodies_acceleration(b, axis), i);

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
			const double a = bodies_number(b, bodies_acceleration(b, axis), i);
			const double off = absolute(a - bodies_number(b, compared[axis], i));

			largest = absolute(a) > largest ? absolute(a) : largest;
			difference = off > difference ? off : difference;
		}
	return largest > 0 ? difference / largest : 1;
}
