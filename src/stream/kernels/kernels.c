#include "kernels.h"

#include <ctype.h>

/* --- what the kernels must give, on numbers --- */

/* The formula in wider arithmetic, and in an element's own: where they differ, a part of it
 * rounds. */
#define FORMULA(name, ...)                                         \
	static wide name##_wide(const wide read[], wide s)         \
	{                                                          \
		(void)s;                                           \
		return __VA_ARGS__;                                \
	}                                                          \
	static element name##_own(const element read[], element s) \
	{                                                          \
		(void)s;                                           \
		return __VA_ARGS__;                                \
	}
#define VALUES(name) name##_wide, name##_own

FORMULA(copy, read[0])
FORMULA(scale, s *read[0])
FORMULA(add, read[0] + read[1])
FORMULA(triad, read[0] + s * read[1])

/* --- the loops, as they are timed --- */

typedef element *__restrict written;
typedef const element *__restrict only_read;

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

/* --- the loops over each thread's part of the arrays --- */

static NOINLINE void kernel_copy(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		copy(arrays->of[2] + mine.first, arrays->of[0] + mine.first, mine.size);
	}
}

static NOINLINE void kernel_scale(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		scale(arrays->of[1] + mine.first, arrays->of[2] + mine.first, arrays->scalar,
		      mine.size);
	}
}

static NOINLINE void kernel_add(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		add(arrays->of[2] + mine.first, arrays->of[0] + mine.first,
		    arrays->of[1] + mine.first, mine.size);
	}
}

static NOINLINE void kernel_triad(const struct arrays *arrays)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);

		triad(arrays->of[0] + mine.first, arrays->of[1] + mine.first,
		      arrays->of[2] + mine.first, arrays->scalar, mine.size);
	}
}

#ifndef MEMBW_FORTRAN

#define RUN(name) kernel_##name
const char kernels_language[] = "c";

const char *kernels_language_of(int kernel)
{
	(void)kernel;
	return kernels_language;
}

#else

/* --- loops and their parallel regions in stream.f90; weak: it need not have all --- */

#define IN_FORTRAN(name)                                                                         \
	__attribute__((weak)) void fortran_##name(element *a, element *b, element *c, element s, \
						  size_t n);                                     \
	static void run_##name(const struct arrays *arrays)                                      \
	{                                                                                        \
		if (fortran_##name)                                                              \
			fortran_##name(arrays->of[ARRAY_a], arrays->of[ARRAY_b],                 \
				       arrays->of[ARRAY_c], arrays->scalar, arrays->size);       \
		else                                                                             \
			kernel_##name(arrays);                                                   \
	}
EACH_KERNEL(IN_FORTRAN)

#define RUN(name) run_##name
const char kernels_language[] = "fortran";

#define LANGUAGE(name) fortran_##name ? "fortran" : "c",
const char *kernels_language_of(int kernel)
{
	const char *const language[KERNELS] = { EACH_KERNEL(LANGUAGE) };

	return language[kernel];
}

#endif

/* --- the descriptors --- */

/* clang-format off */
const struct kernel kernels[KERNELS] = {
	/*                 name     writes   loads  reads                 */
	[KERNEL_copy] =  { "copy",  ARRAY_c, 1, { ARRAY_a },          VALUES(copy),  RUN(copy) },
	[KERNEL_scale] = { "scale", ARRAY_b, 1, { ARRAY_c },          VALUES(scale), RUN(scale) },
	[KERNEL_add] =   { "add",   ARRAY_c, 2, { ARRAY_a, ARRAY_b }, VALUES(add),   RUN(add) },
	[KERNEL_triad] = { "triad", ARRAY_a, 2, { ARRAY_b, ARRAY_c }, VALUES(triad), RUN(triad) },
};
/* clang-format on */

size_t kernels_bytes(const struct kernel *kernel)
{
	return (size_t)(kernel->loads + 1) * sizeof(element);
}

const char *kernels_title(const struct kernel *kernel, char title[KERNEL_TITLE_MAX])
{
	snprintf(title, KERNEL_TITLE_MAX - 1, "%s", kernel->name);
	title[0] = (char)toupper((unsigned char)title[0]);
	return title;
}
