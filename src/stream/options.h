/*
 * options: what was requested; macros give the defaults.
 */
#pragma once

#include "../harness/memory/map.h"
#include "../harness/options.h"
#include "macros.h"

enum size_from { FROM_AUTO, FROM_MACRO, FROM_OPTION };

struct options {
	size_t size; /* elements of one array, 0 for automatic */
	enum size_from size_from;
	size_t offset;      /* elements between two arrays */
	int ntimes;         /* exactly so many, 0: until the figures have settled */
	double max_seconds; /* of the repetitions, 0: what the run's time leaves */
	int pages;          /* enum pages */
	int explain;        /* what limits Triad, looks/looks.h */
	double limit;       /* of an MPI job: seconds to wait for other ranks, 0 for the default */
};

/* Reads the command line of the program; dies where it makes no sense. */
struct options stream_options(const struct program *program, int argc, char **argv);

extern const struct option_row stream_rows[], stream_rows_of_job[];
