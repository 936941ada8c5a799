/*
 * kernels: the loops of wide.h over a working set: read over one array, Triad over three of
 * them, of which 24 B are counted per element.
 *
 * Both go over the working set PASSES times, and each result is exact: the words and the elements
 * are known by their place.
 */
#pragma once

#include "../harness/config.h"

#include <stdint.h>

enum kernel { KERNEL_READ, KERNEL_TRIAD };

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
