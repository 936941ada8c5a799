/*
 * array_size: how many elements an array gets, and whether that is enough.
 *
 * STREAM's rule: an array has at least four times the size of all last-level
 * caches that the run uses, and at least one million elements.
 */
#ifndef MEMBW_ARRAY_SIZE_H
#define MEMBW_ARRAY_SIZE_H

#include "options.h"

enum { CACHES_PER_ARRAY = 4, LEAST_ELEMENTS = 1000000 };

/* Fills in an automatic size; dies where the memory does not suffice.
 * The note, if any, says that memory made it smaller. */
void size_choose(struct options *options, size_t llc_bytes, char note[256]);

/* Finds array-too-small. */
void size_judge(size_t size, size_t llc_bytes);

#endif
