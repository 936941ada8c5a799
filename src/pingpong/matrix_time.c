#include "matrix_time.h"

/* 2 s, or half a millisecond for each: eleven blocks of 20 us, and as many to look for their
 * length and to warm up; at most 3 ms, when most pairs have settled. */
static const double MATRIX_LEAST = 2, SECONDS_EACH = 0.0005, SHARE_MOST = 0.003;

double matrix_seconds(int figures)
{
	const double all = SECONDS_EACH * figures;

	return all > MATRIX_LEAST ? all : MATRIX_LEAST;
}

double matrix_share(double seconds_left, int figures_left)
{
	const double share = seconds_left / figures_left;

	return share < SHARE_MOST ? share : SHARE_MOST;
}
