/*
 * kernels: STREAM's four loops, as plain as they are published.
 *
 * kernel  formula            loads/stores  counted bytes  moved with write-allocate
 * copy    c[i] = a[i]             1/1            16                 24
 * scale   b[i] = s * c[i]         1/1            16                 24
 * add     c[i] = a[i] + b[i]      2/1            24                 32
 * triad   a[i] = b[i] + s * c[i]  2/1            24                 32
 *
 * A kernel is a loop, its formula and a descriptor, all in kernels.c, and its name in the list
 * below; a further array is a name in the list of arrays.h.  The bytes, the expected values
 * (expect.h), the validation, the table and the record follow from the descriptor.  A loop in
 * Fortran (stream.f90, fortran_<name>) is a choice: without one the loop in C is measured, and the
 * program says so.
 *
 * Each is one function of its own name, never inlined, so that a disassembly
 * of the binary finds it (OpenMP compilers append a suffix to the loop's part).
 * The loops proper take restrict parameters: of all ways to say that the
 * arrays do not overlap it is the one that gcc, clang and icc all still know
 * inside an OpenMP region, and with it they do what they do for static arrays
 * (a Copy that becomes memcpy, no run-time overlap checks).
 */
#pragma once

#include "arrays.h"

/* In the order in which an iteration runs them. */
#define EACH_KERNEL(K) \
	K(copy)        \
	K(scale)       \
	K(add)         \
	K(triad)

#define KERNEL_INDEX(name) KERNEL_##name,
enum kernel_index { EACH_KERNEL(KERNEL_INDEX) KERNELS };

/* Wider than an element, so that what an element rounds shows (expect.h). */
typedef long double wide;

enum { LOADS_MOST = ARRAYS, KERNEL_TITLE_MAX = 16 };

struct kernel {
	const char *name;
	enum array writes;
	int loads; /* arrays read */
	enum array reads[LOADS_MOST];
	wide (*value)(const wide read[], wide s);          /* of what is read: what is written */
	element (*own)(const element read[], element s);   /* the same, each step as an element */
	void (*volatile run)(const struct arrays *arrays); /* read at each call: see stream.c */
};

extern const struct kernel kernels[KERNELS];

/* "c" or "fortran": what the loops are written in; and one kernel's, which is in C where
 * stream.f90 has no loop of it. */
extern const char kernels_language[];
const char *kernels_language_of(int kernel);

/* Bytes of an element of each array that is read or written, as STREAM counts them. */
size_t kernels_bytes(const struct kernel *kernel);

/* "Triad" for triad, as STREAM's table has it; leaves room for a colon. */
const char *kernels_title(const struct kernel *kernel, char title[KERNEL_TITLE_MAX]);
