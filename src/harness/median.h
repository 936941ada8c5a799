/*
 * median: of what noise has moved; half of the values may be anything.
 */
#ifndef MEMBW_MEDIAN_H
#define MEMBW_MEDIAN_H

/* Of at least one value; sorts them. */
double median(double *values, int count);

#endif
