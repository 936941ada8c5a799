/*
 * elementary: functions of libm, because the published compile lines have no -lm.
 */
#pragma once

/* 0 of what is not above 0. */
double square_root(double square);

/* To base 2, of a number above 0. */
double binary_logarithm(double x);

double absolute(double x);
