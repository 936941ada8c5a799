#include "elementary.h"

/* Newton's method. */
double square_root(double square)
{
	double x = square > 1 ? square : 1;
	int i;

	for (i = 0; i < 200 && x * x > square * (1 + 1e-15); i++)
		x = (x + square / x) / 2;
	return square > 0 ? x : 0;
}

/* Digit by digit: the logarithm of a square is twice as large. */
double binary_logarithm(double x)
{
	double result = 0, digit = 1;
	int i;

	for (; x >= 2; x /= 2)
		result += 1;
	for (; x < 1; x *= 2)
		result -= 1;
	for (i = 0; i < 52; i++) {
		digit /= 2;
		x *= x;
		if (x >= 2) {
			x /= 2;
			result += digit;
		}
	}
	return result;
}

double absolute(double x)
{
	return x < 0 ? -x : x;
}

unsigned long long bits_of(const void *number, size_t size)
{
	unsigned long long wide = 0;
	unsigned int narrow = 0;

	if (size == sizeof(narrow)) {
		memcpy(&narrow, number, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, number, size);
	return wide;
}

int is_number(double x)
{
	volatile union {
		double number;
		unsigned long long bits;
	} of;

	of.number = x;
	return (of.bits >> 52 & 0x7ff) != 0x7ff;
}

int is_positive(double x)
{
	return is_number(x) && x > 0;
}
