/*
 * deviation: how far a few values lie apart, and how far the next one may be expected.
 */
#pragma once

/* The standard deviation of a sample of COUNT values, by COUNT - 1; 0 of fewer than two. */
LOCAL double deviation(const double *values, int count);

/* Student's t, two-sided 95 %, of so many degrees of freedom, at least 1 and at most
 * STUDENT_FREEDOM. */
enum { STUDENT_FREEDOM = 11 };
LOCAL double student(int freedom);
