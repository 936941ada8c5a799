/*
 * curve: what the times of all sizes say together.
 *
 * latency    of the smallest size
 * bandwidth  asymptotic: one over the median slope (Theil and Sen) of time over bytes, of the
 *            sizes from 64 KiB on
 * n_half     bytes at which half of that is reached, the time between two sizes being a straight
 *            line (R. Hockney, The Science of Computer Benchmarking, SIAM 1996)
 * knees      sizes at which another protocol begins.  From one size to its double the time grows
 *            by a factor that rises from 1 to 2; one that is a quarter off both of its neighbours
 *            is a jump: up, or (as eager to rendezvous often is) down to hardly any growth.
 */
#pragma once

#include "../harness/config.h"

enum { KNEES_MAX = 8 };

struct curve {
	double latency;   /* in the unit of the times */
	double bandwidth; /* bytes per unit of time; 0: fewer than three sizes from 64 KiB */
	double n_half;    /* bytes; 0: not among these sizes */
	size_t knees[KNEES_MAX]; /* the first size of the new protocol */
	int knees_count;
};

/* Of COUNT sizes that rise, at most 64. */
void curve_fit(struct curve *curve, const size_t *sizes, const double *times, int count);
