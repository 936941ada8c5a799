/*
 * record: the ladder's part of the record (record.schema.json).
 */
#pragma once

#include "in_memory.h"
#include "measure.h"

#include "../harness/memory/placement.h"

struct run {
	struct ladder ladder;
	struct measuring measuring;
	struct declared declared;
	struct level levels[LEVELS_MAX];
	int levels_count;
	struct placement before, after;
	char *printed; /* the table */
};

void record_ladder(const void *run);
