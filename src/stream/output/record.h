/*
 * record: the run as one JSON object; record.schema.json describes it.
 */
#ifndef MEMBW_RECORD_H
#define MEMBW_RECORD_H

#include "../../harness/evidence/hugepages.h"
#include "../../harness/evidence/interference.h"
#include "../../harness/evidence/placement.h"
#include "../../harness/machine/peak.h"
#include "../kernels/validate.h"
#include "../measure.h"
#include "../options.h"
#include "../search/limits.h"
#include "../search/search.h"

struct run {
	struct options options;
	struct peak peak;
	size_t llc_bytes, memory_side_bytes;
	struct choice choice;
	const struct tuning *tuning; /* NULL where there was no search */
	const struct limits *limits; /* NULL where they were not measured */
	struct arrays arrays;
	struct measurement measurement;
	struct measurement node, job; /* slowest times, of an MPI job; times NULL if not known */
	struct validation validation;
	int checked; /* the validation was done */
	struct hugepages pages;
	struct placement before, after; /* the measurement */
	struct busy busy;
};

/* The record as a line of text, to be freed; NULL where no file was asked for
 * or fewer than two iterations are complete. */
char *record_text(const struct run *run, size_t *size);

#endif
