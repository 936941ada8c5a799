/*
 * plural: the ending of what is counted, and numbers as people read them.
 */
#pragma once

#include "config.h"

/* "s", and "" of one. */
LOCAL const char *plural(long count);

/* So many digits, and all before the point: never an exponent, nor a zero below zero; "-" of what
 * is no number.  Room for sixteen at a time. */
LOCAL const char *number_text(double value, int count);

/* "1.23 us" of seconds, "20 ms", "1.5 s"; room as for number_text(). */
LOCAL const char *seconds_text(double seconds);
