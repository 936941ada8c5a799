/*
 * run: one run of STREAM, all that is known of it.
 */
#pragma once

#include "../harness/machine/llc.h"
#include "../harness/memory/map.h"
#include "../harness/memory/placement.h"
#include "../harness/residency/triads.h"
#include "kernels/validate.h"
#include "looks/looks.h"
#include "measure.h"
#include "options.h"

struct run {
	struct options options;
	struct llc llc;
	size_t llc_bytes, memory_side_bytes; /* the larger of both caches; bytes of the second */
	struct residency_found residency;
	struct arrays arrays;
	struct measurement measurement;
	struct measurement node, job; /* slowest times, of an MPI job; times NULL if not known */
	struct looks looks;
	struct validation validation;
	struct hugepages pages;
	struct placement before, after; /* the measurement */
};
