/*
 * elementary: functions of libm, because the published compile lines have no -lm.
 */
#pragma once

#include "config.h"

/* 0 of what is not above 0. */
LOCAL double square_root(double square);

/* To base 2, of a number above 0. */
LOCAL double binary_logarithm(double x);

LOCAL double absolute(double x);

/* Those of a number of 4 or 8 bytes. */
LOCAL unsigned long long bits_of(const void *number, size_t size);

/*
 * Neither NaN nor infinite; and above 0.  By the bits, out of sight of the compiler: with
 * -ffast-math it takes no number to be NaN, so that !(x > 0) becomes x <= 0, which NaN
 * passes.  What NaN may reach is guarded by these.
 */
LOCAL int is_number(double x);
LOCAL int is_positive(double x);
