/*
 * forces: what all bodies do to each body of a range, in float and in double.
 *
 *	a_i = sum over j of m_j (x_j - x_i) / (|x_j - x_i|^2 + e^2)^(3/2)
 *
 * all pairs, without the symmetry, which would make threads share sums: each body's sum is one
 * loop in one order, so that any number of threads gives the same bits.  An interaction counts as
 * 20 flop (L. Nyland, M. Harris, J. Prins, Fast N-Body Simulation with CUDA, GPU Gems 3, 2007,
 * section 31.2), whatever a compiler makes of it.
 */
#pragma once

#include "bodies.h"

/* e^2, of bodies in a cube of side 1. */
#define SOFTENING 1e-4

enum { FLOP_PER_INTERACTION = 20 };

/* Those of the groups from FIRST to below LAST. */
void bodies_forces(const struct bodies *bodies, long first, long last);

/* 1 / sqrt(x) of what is above 0, by Newton's method from a guess of its bits (C. Lomont, Fast
 * Inverse Square Root, 2003): sqrt() needs -lm, and no compiler makes vectors of a call that may
 * set errno.  The guess is off by 3.5 % at most, and 1.5 e^2 remains of e after each step. */
static __inline__ float inverse_root_float(float x)
{
	const float half = 0.5f * x;
	unsigned int bits;
	float y;

	memcpy(&bits, &x, sizeof(bits));
	bits = 0x5f375a86u - (bits >> 1);
	memcpy(&y, &bits, sizeof(y));
	y = y * (1.5f - half * y * y);
	y = y * (1.5f - half * y * y);
	return y * (1.5f - half * y * y);
}

static __inline__ double inverse_root_double(double x)
{
	const double half = 0.5 * x;
	unsigned long long bits;
	double y;

	memcpy(&bits, &x, sizeof(bits));
	bits = 0x5fe6eb50c7b537a9ULL - (bits >> 1);
	memcpy(&y, &bits, sizeof(y));
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	return y * (1.5 - half * y * y);
}
