/*
 * record: the ladder's part of the record (record.schema.json).
 */
#pragma once

#include "levels.h"
#include "measure.h"

#include "../harness/memory/placement.h"
#include "../harness/residency/triads.h"

struct run {
	struct ladder ladder;
	struct measuring measuring;
	struct declared declared;
	struct level levels[LEVELS_MAX];
	int levels_count;
	struct residency_found residency;
	struct placement before, after;
	char *printed; /* the table */
};

void record_ladder(const void *run);
