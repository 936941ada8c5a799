/*
 * record: the run as one JSON object; record.schema.json describes it.
 */
#ifndef MEMBW_RECORD_H
#define MEMBW_RECORD_H

#include "busy.h"
#include "hugepages.h"
#include "measure.h"
#include "options.h"
#include "peak.h"
#include "placement.h"
#include "validate.h"

struct run {
	struct options options;
	struct peak peak;
	size_t llc_bytes;
	struct arrays arrays;
	struct measurement measurement;
	struct validation validation;
	struct hugepages pages;
	struct placement before, after; /* the measurement */
	struct busy busy;
};

/* Opens the file before anything is measured; asks again if it cannot be. */
void record_open(const char *path);

/* Writes the record, if a file was asked for; 0 if that failed. */
int record_write(const struct run *run);

#endif
