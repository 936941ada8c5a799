#include "median.h"

#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
