/*
 * nbody_fault: what tests plant; without the macros nothing of it is there.
 *
 *   MEMBW_PLANT_FORCE=TEXT  "I,BIT": after the last run that bit of the acceleration of body I is
 *                           flipped; "pull": every body is pulled towards one side; "lazy": the
 *                           last thread of a team leaves its share to the first; "one core":
 *                           several threads have 0.01 additions per cycle; "warm": the test
 *                           system's bodies are pushed from outside.  TEXT is an expression, as
 *                           getenv("FORCE")
 */
#pragma once

#ifdef MEMBW_PLANT_FORCE
#include <stdlib.h>
#include <string.h>

static __inline__ int fault_force(const char *name)
{
	const char *const planted = MEMBW_PLANT_FORCE;

	return planted && strcmp(planted, name) == 0;
}

static __inline__ void fault_flip_force(void *accelerations, size_t size)
{
	const char *const planted = MEMBW_PLANT_FORCE;
	long body;
	int bit;

	if (planted && sscanf(planted, "%ld,%d", &body, &bit) == 2)
		((unsigned char *)accelerations)[(size_t)body * size + (size_t)bit / 8] ^=
			(unsigned char)(1 << bit % 8);
}
#define FAULT_FORCE(name) fault_force(name)
#define FAULT_FLIP_FORCE(accelerations, size) fault_flip_force(accelerations, size)
#else
#define FAULT_FORCE(name) 0
#define FAULT_FLIP_FORCE(accelerations, size) ((void)(accelerations), (void)(size))
#endif
