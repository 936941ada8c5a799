/*
 * energy: whether the forces are those of gravitation.
 *
 * A small system of its own moves for some steps (leapfrog); the energy, from a potential that is
 * computed apart and slowly, must stay.
 */
#pragma once

#include "bodies.h"

/* |E after - E before| / |E before|. */
double energy_drift(enum precision precision);
