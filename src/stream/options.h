/*
 * options: what was asked for; macros give the defaults.
 */
#ifndef MEMBW_OPTIONS_H
#define MEMBW_OPTIONS_H

#include "arrays.h"

enum size_from { FROM_AUTO, FROM_MACRO, FROM_OPTION };

struct options {
	size_t size; /* elements of one array, 0 for automatic */
	enum size_from size_from;
	size_t offset; /* elements between two arrays */
	int ntimes;
	const char *json; /* file of the record, NULL for none */
	enum pages pages;
	double peak_gbs; /* 0 for unknown */
};

/* Reads the command line; asks again where it makes no sense. */
struct options options_read(int argc, char **argv);

#endif
