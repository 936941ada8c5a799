/*
 * plan: how much of a program's work is done, and how long the rest takes, for those who wait.
 *
 * On a terminal one line of stderr, written over; else a line once per ten seconds, for `membw
 * run` and for logs:
 *	membw-progress: 31 of 72 sizes, about 70 s left
 */
#pragma once

#include "config.h"

/* DONE of ALL of what are called WHAT; the first call, with DONE 0, starts the clock. */
LOCAL void plan_done(const char *what, int done, int all);

/* The same where they take unequally long: PART of the work is done, and nothing begins after
 * UNTIL (of clock_now()). */
LOCAL void plan_done_part(const char *what, int done, int all, double part, double until);

/* Before other output: takes the terminal's line away. */
LOCAL void plan_end(void);
