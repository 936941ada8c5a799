/*
 * matrix_time: how long the figures of a matrix may take, of which 192 cores have 110,016.
 *
 * Most settle at once, and leave their time to those that do not; where nothing settles the whole
 * still ends in time: 20 cores after 2 s, 192 cores after 55 s.
 */
#pragma once

#include "../harness/config.h"

/* Seconds for so many figures together. */
double matrix_seconds(int figures);

/* Seconds for the next one, of those that are left for so many. */
double matrix_share(double seconds_left, int figures_left);
