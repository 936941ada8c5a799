#include "deviation.h"

#include "elementary.h"

double deviation(const double *values, int count)
{
	double mean = 0, squares = 0;
	int i;

	for (i = 0; i < count; i++)
		mean += values[i] / count;
	for (i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return count > 1 ? square_root(squares / (count - 1)) : 0;
}

double student(int freedom)
{
	static const double table[STUDENT_FREEDOM] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
						       2.365,  2.306, 2.262, 2.228, 2.201 };

	return table[freedom - 1];
}
