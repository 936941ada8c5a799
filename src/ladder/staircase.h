/*
 * staircase: the ladder as a person reads it, in 80 columns.
 */
#pragma once

#include "levels.h"

enum { SIZE_TEXT_MAX = 32 };

/* "48 KiB", "1.5 MiB", "8 GiB". */
const char *size_text(char text[SIZE_TEXT_MAX], double bytes);

/* The name of a level: L1, L2, ... as declared, "memory". */
const char *level_name(const struct level *levels, int number, const struct declared *declared);

/* One line per octave: figures, in the middle of the rounds, and a bar as long as the latency's
 * logarithm, from the least to the most of the rounds. */
void staircase_print(FILE *out, const struct ladder *ladder);

/* The largest size that one thread reads much faster than memory, beyond the levels that latency
 * shows; 0: none. */
double cache_by_rate(const struct ladder *l, const struct level *levels, int count);

/* One line per level: declared and measured size, latency, bandwidth; one that was declared and
 * not found has its line too, and a cache that only the rates show. */
void levels_print(FILE *out, const struct ladder *ladder, const struct level *levels, int count,
		  const struct declared *declared);
