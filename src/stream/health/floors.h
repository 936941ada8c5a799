/*
 * floors: a health check of this node. The least that each kernel must reach, a time by which
 * all is over, and one line in place of the table, in the words of membw.results.verdict:
 *
 *	membw: PASS triad 160.1 GB/s, at least 150         the figure, or a lower bound, reaches it
 *	membw: FAIL triad 140.2 GB/s, at least 150         all of its interval is below
 *	membw: UNDECIDED triad 147.2 GB/s (141.0 to 153.4), at least 150: measure again
 *	membw: UNDECIDED triad >= 121.0 GB/s, at least 150: disturbed, measure again
 *	membw: UNDECIDED not-proven (...)                  a cache may hold the arrays
 *	membw: UNDECIDED allowed: too-short (...)          by --allow
 *	membw: INVALID array-too-small (...)
 *	membw: MISSING not measured within 25 s
 */
#pragma once

#include "../looks/looks.h"

/* --at-least: "triad=150,copy=140" in GB/s, or a file of such entries; from here on nothing but
 * the one line is printed. */
void floors_set(const char *option, const char *text);

/* --seconds: then the program ends, measured or not. */
void floors_set_seconds(const char *option, const char *text);

/* Whether the look has a floor, or the time is not limited by --seconds. */
int floors_leave_time_for(enum look look);

/* The exit status of a run that would end with STATUS; prints the line, if floors were given. */
int floors_judge(const struct measurement *measurement, const struct looks *looks, int status);

/* As given by --seconds, 0: it was not. */
double floors_seconds(void);
