/*
 * wide: read and Triad with the widest vectors of the CPU, written by vector types of the
 * compiler, SVE by hand, so that each preset and each program measures the same loop.
 *
 * read    sum of 64-bit words: each load has one addition, no store
 * triad   a = b + 3 c of doubles; plain stores, so that outside the caches each line written is
 *         read first
 */
#pragma once

#include "../config.h"

#include <stdint.h>

enum { WIDE_READ_STEP = 512, WIDE_TRIAD_STEP = 256 }; /* bytes; what the loops do at once */
enum { WIDE_HALVES = MIB };                           /* bytes that are read by two streams */

/* Bits of the vectors: 512, 256 or 128. */
LOCAL int wide_bits(void);

/* The sum of the words of BYTES, a multiple of WIDE_READ_STEP and aligned to a line; PASSES
 * times. */
LOCAL uint64_t wide_read(const void *memory, size_t bytes, size_t passes);

/* Arrays of BYTES each, a multiple of WIDE_TRIAD_STEP and aligned to a line; PASSES times. */
LOCAL void wide_triad(void *a, const void *b, const void *c, size_t bytes, size_t passes);
