/*
 * residency: how it is known that arrays lie in memory, not in a cache, in one of four words.
 *
 *	proven        by measuring: larger arrays are as slow, and caches are faster
 *	contradicted  by measuring: larger arrays are slower, so these lie in a cache
 *	declared      not measured, but four times the last-level caches that the CPU declares
 *	unknown       none of these
 */
#pragma once

#include "../config.h"

enum residency { RESIDENCY_UNKNOWN, RESIDENCY_DECLARED, RESIDENCY_CONTRADICTED, RESIDENCY_PROVEN };

LOCAL const char *residency_word(enum residency residency);

/* Whether LARGER, a rate of larger arrays, lies a quarter or more below RATE. */
LOCAL int residency_falls(double rate, double larger);

/* Whether the two lie within a tenth of the larger one. */
LOCAL int residency_agrees(double rate, double other);
