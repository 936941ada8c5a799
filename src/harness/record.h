/*
 * record: a run as one JSON object on one line; record.schema.json describes what all programs
 * have in common.  Its last key is the checksum of all before it: a record that was damaged, or
 * changed by hand, is seen.  It is no lock: who changes a record can compute another one.
 */
#pragma once

#include "options.h"

/* The line, to be freed; NULL where there is no memory for it.  What only this program has comes
 * from program->write(data). */
LOCAL char *record_text(const struct program *program, const void *data, size_t *size);
