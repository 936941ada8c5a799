/*
 * floors: a health check of this node. The least that each kernel must reach, a time by which
 * all is over, and one line in place of the table:
 *
 *	membw: PASS triad 160.1 GB/s, at least 150
 *	membw: FAIL triad 140.2 GB/s, at least 150
 *	membw: UNDECIDED triad >= 121.0 GB/s, at least 150: disturbed, measure again
 *	membw: INVALID array-too-small (...)
 */
#pragma once

#include "../measure.h"

/* --at-least: "triad=150,copy=140" in GB/s, or a file of such entries; from here on nothing but
 * the one line is printed. */
void floors_set(const char *option, const char *text);

/* --seconds: then the program ends, measured or not. */
void floors_set_seconds(const char *option, const char *text);

/* The exit status of a run that would end with STATUS; prints the line, if floors were given. */
int floors_judge(const struct measurement *measurement, int status);

/* As given by --seconds, 0: it was not. */
double floors_seconds(void);
