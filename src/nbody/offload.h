/*
 * offload: the same forces on a device, by `omp target`.
 *
 * Where a compiler has no code for a device, or the runtime finds none, a target region runs on
 * the host without a word: the region itself reports where it runs.
 */
#pragma once

#include "bodies.h"

/* How many devices the runtime knows; -1: the compiler has no target regions (OpenMP 4). */
int offload_devices(void);

/* All forces, with what is sent and brought back; THREADS of the device, 0: all of it.  Returns
 * whether it was done on a device. */
int offload_forces(const struct bodies *bodies, int threads);
