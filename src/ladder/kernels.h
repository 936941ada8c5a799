/*
 * kernels: read and Triad with the widest vectors of the CPU, written by intrinsic vector types,
 * so that each preset measures the same loop.
 *
 * read    sum of 64-bit words: each load has one addition, no store
 * triad   a = b + 3 c of doubles, three arrays in the working set; 24 B counted per element;
 *         plain stores, so that outside the caches each line written is read first
 *
 * Both go over the working set PASSES times, and each result is exact: the words and the elements
 * are known by their place.
 */
#pragma once

#include "../harness/config.h"

#include <stdint.h>

enum kernel { KERNEL_READ, KERNEL_TRIAD };

/* Bits of the vectors, 512, 256 or 128. */
int kernel_bits(void);

/* Fills the working set of BYTES, a multiple of 512. */
void kernel_fill(enum kernel kernel, char *memory, size_t bytes);

/* Goes over it so often; what it read, for kernel_is_right(). */
uint64_t kernel_run(enum kernel kernel, char *memory, size_t bytes, size_t passes);

/* Whether the memory holds what it should, and GOT is what the last run returned. */
int kernel_is_right(enum kernel kernel, const char *memory, size_t bytes, size_t passes,
		    uint64_t got);

/* Bytes of one pass, as counted; and that the memory of a working set needs. */
size_t kernel_bytes_counted(enum kernel kernel, size_t bytes);
size_t kernel_bytes_needed(size_t bytes);
