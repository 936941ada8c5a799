/*
 * program: the way of a program from the command line to the exit status, in the order of these
 * functions; tests/data/chase/chase.c is a whole one.
 */
#pragma once

#include "options.h"

/* Before anything else, in a program that may be one of several processes: joins the job, of MPI
 * or srun. */
LOCAL void program_join(int *argc, char ***argv);

/* Reads the options, starts the threads, opens the file of the record. */
LOCAL void program_start(const struct program *program, int argc, char **argv);

/* What counts for the verdict lies between these two.  From the first on a signal to end is noted
 * alone: whoever repeats looks at watchdog_signalled(), and stops with what is complete. */
LOCAL void program_measuring(void);
LOCAL void program_measured(void);

/* Prints the metrics and the verdict, writes the record; DATA is for the program's own part.
 * The exit status. */
LOCAL int program_end(const void *data);
