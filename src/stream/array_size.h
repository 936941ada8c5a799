/*
 * array_size: how many elements an array gets, and whether that is enough.
 *
 * STREAM's rule: an array has at least four times the size of all last-level
 * caches that the run uses, and at least one million elements.  Whether that is enough, or too
 * much for the memory and the time there is, is measured (triads.h); in one of several processes,
 * and with --allow array-too-small, nothing is.
 */
#pragma once

#include "../harness/machine/llc.h"
#include "../harness/residency/triads.h"
#include "options.h"

enum { CACHES_PER_ARRAY = 4, LEAST_ELEMENTS = 1000000 };

/* Sizes of caches that are unknown.  No socket of today has more than 1152 MiB (EPYC 9684X),
 * most have less than half of this. */
enum { LLC_ASSUMED_MIB = 1024 };

/* Fills in an automatic size; dies where the memory does not suffice.  Finds array-too-small and
 * not-proven.  SECONDS: of the whole run.  The note, if any, says why the size is not the
 * rule's, or where the size of the caches is from. */
void size_choose(struct options *options, struct residency_found *residency, size_t llc_bytes,
		 enum llc_from from, double seconds, char note[256]);

/* Warns of cache-size where the sources disagree, with what each says. */
void caches_judge(const struct llc *llc);
