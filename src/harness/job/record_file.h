/*
 * record_file: the file of the records, one line a rank, each on disk as soon
 * as it is known.
 */
#ifndef MEMBW_RECORD_FILE_H
#define MEMBW_RECORD_FILE_H

#include "../config.h"

/* Opens the file before anything is measured, on rank 0; dies if it
 * cannot be.  What an earlier job left beside it is removed. */
void record_file_open(const char *path);

/* Adds a line; 1 if all went well or no file was asked for. */
int record_file_put(const char *line, size_t size);

/* Begins the file anew. */
void record_file_restart(void);

/* Writes the line to a file of its own, FILE.rank-N, and removes that again. */
int record_file_rescue(const char *line, size_t size);
void record_file_unrescue(void);

#endif
