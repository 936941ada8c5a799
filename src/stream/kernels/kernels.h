/*
 * kernels: STREAM's four loops, as plain as they are published ("Standard").
 *
 * kernel  formula            loads/stores  counted bytes  moved with write-allocate
 * copy    c[i] = a[i]             1/1            16                 24
 * scale   b[i] = s * c[i]         1/1            16                 24
 * add     c[i] = a[i] + b[i]      2/1            24                 32
 * triad   a[i] = b[i] + s * c[i]  2/1            24                 32
 *
 * Each is one function of its own name, never inlined, so that a disassembly
 * of the binary finds it (OpenMP compilers append a suffix to the loop's part).
 * The loops proper take restrict parameters: of all ways to say that the
 * arrays do not overlap it is the one that gcc, clang and icc all still know
 * inside an OpenMP region, and with it they do what they do for static arrays
 * (a Copy that becomes memcpy, no run-time overlap checks).
 */
#ifndef MEMBW_KERNELS_H
#define MEMBW_KERNELS_H

#include "arrays.h"

enum { KERNELS = 4 };

struct kernel {
	const char *name;
	const char *label;                                 /* in STREAM's table */
	size_t words;                                      /* elements counted per iteration */
	void (*volatile run)(const struct arrays *arrays); /* read at each call: see stream.c */
};

extern const struct kernel kernels[KERNELS];

/* First touch: each thread writes the part that it will work on. */
void kernels_first_touch(const struct arrays *arrays);

/* After RESET_EVERY iterations: a becomes the start value again, and a wrong
 * element stays wrong by the same bits (see arrays.h); not timed. */
void kernels_reset(const struct arrays *arrays);

void kernel_copy(const struct arrays *arrays);
void kernel_scale(const struct arrays *arrays);
void kernel_add(const struct arrays *arrays);
void kernel_triad(const struct arrays *arrays);

#endif
