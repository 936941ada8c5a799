/*
 * record: a run as one JSON object on one line; record.schema.json describes what all programs
 * have in common.
 */
#pragma once

#include "options.h"

/* The line, to be freed; NULL where there is no memory for it.  What only this program has comes
 * from program->write(data). */
LOCAL char *record_text(const struct program *program, const void *data, size_t *size);
