/*
 * elementary: functions of libm, because the published compile lines have no -lm.
 */
#pragma once

/* 0 of what is not above 0. */
LOCAL double square_root(double square);

/* To base 2, of a number above 0. */
LOCAL double binary_logarithm(double x);

LOCAL double absolute(double x);
