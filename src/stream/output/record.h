/*
 * record: what STREAM's record has in addition to the common part; record.schema.json describes
 * it.
 */
#pragma once

#include "../run.h"

struct program;
extern const struct program stream_program;

/* The record as a line of text, to be freed; NULL where no file was requested
 * or fewer than two iterations are complete. */
char *stream_record(const struct run *run, size_t *size);
