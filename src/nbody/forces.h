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
