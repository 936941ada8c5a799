/*
 * record_file: the file of the records.
 *
 * One process writes FILE.unfinished-PID and renames it: what stood in FILE stays until then, and
 * a run that is killed leaves it alone.  A device or a pipe is written as it is.  Each of several
 * writes its own FILE.rank-N, before anything is gathered; when rank 0 has the records of all,
 * they stand in FILE, and the other files are removed.  A file that is not complete has a name
 * that no reader takes, FILE.unfinished-N.
 */
#pragma once

#include "../config.h"

/* ONE record speaks for the job, rank 0's, and stands in FILE; before record_file_open(). */
LOCAL void record_file_of_job(int one);

/* Before anything is measured; dies if the file cannot be written. */
LOCAL void record_file_open(const char *path);

/* Writes this process's record, again if it is known better; 1 if all went well. */
LOCAL int record_file_put(const char *line, size_t size);

/* On rank 0: adds a record to FILE; ends FILE, 1 if it is complete. */
LOCAL int record_file_gather(const char *line, size_t size);
LOCAL int record_file_publish(void);

/* The record of this process stands in FILE: its own file goes. */
LOCAL void record_file_drop(void);
