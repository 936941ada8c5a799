/*
 * kernels: what is timed on the card: STREAM's four kernels, a read and a write.
 *
 *	copy   c = a              scale  b = 3 c          add    c = a + b
 *	triad  a = b - c / 4      read   sum of a's bits  write  c = a constant
 *
 * In this order they are a round, and a round doubles a, exactly in binary: a begins with small
 * whole numbers that depend on the index, so after so many rounds each bit of each element is
 * known, and a launch that did nothing or went wrong is seen in all that follow.  Bytes are
 * counted as STREAM counts them.
 */
#pragma once

#include "card.h"

enum { COPY, SCALE, ADD, TRIAD, READ, WRITE, KERNELS };
enum { A, B, C, ARRAYS };
/* a float can be doubled so often */
enum { WIDTHS = 3, ROUNDS_MOST = 100 };

extern const char *const kernel_names[KERNELS];

/* How a kernel is launched. */
struct shape {
	size_t local; /* work-items of a group */
	int width;    /* elements that a work-item takes at once: 1, 2, 4 */
	int groups;   /* per compute unit, which loop over the array; 0: one step per work-item */
};

struct arrays {
	const struct card *card;
	size_t n, room; /* elements that the kernels use; that the buffers have room for */
	size_t element; /* bytes: 8, or 4 where the device has no double */
	cl_mem of[ARRAYS], sums;
	cl_kernel begin, kernels[KERNELS][WIDTHS];
	double cpu_s, wall_s; /* while kernels ran: of other threads than the one that waits */
};

/* Has the driver compile the kernels; dies of its error. */
void kernels_build(struct arrays *arrays, const struct card *card);

/* Room for N elements of each array, or for as many as the device gives. */
void kernels_take_memory(struct arrays *arrays, size_t n);

/* a: its first values; b and c: none that a kernel makes. */
void kernels_begin(struct arrays *arrays);

/* One launch, in a given round; host: 0 where the device does not take this shape. */
struct timing kernels_run(struct arrays *arrays, int kernel, const struct shape *shape, int round);

/* That the kernel counts. */
double kernels_bytes(const struct arrays *arrays, int kernel);

/* Whether the sum that the last read found is right; whether the last write reached some elements
 * far apart. */
int kernels_sum_is_right(const struct arrays *arrays, const struct shape *shape, int round);
int kernels_is_written(const struct arrays *arrays, int round);

/* Compares each element of each array with what so many rounds make of it; finds not-validated. */
void kernels_validate(const struct arrays *arrays, int rounds);
