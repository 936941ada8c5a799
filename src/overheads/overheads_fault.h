/*
 * overheads_fault: what tests plant; without the macro nothing of it is there.
 *
 *   MEMBW_PLANT_OVERHEAD=TEXT  one of these, where TEXT is an expression (getenv("PLANT")):
 *	no-delay        the delay's value comes from a formula, as a compiler might have it
 *	lost-work       the delay is left out once in 200 times
 *	sum             a sum is one too large
 *	copy            what a thread sees in its copy is not what was copied
 *	shared          all threads have the same "private" copy
 *	slow-reference  the reference takes twenty delays in place of one
 */
#pragma once

#ifdef MEMBW_PLANT_OVERHEAD
#include <stdlib.h>
#include <string.h>

static __inline__ int fault_planted(const char *name)
{
	static const char *planted;

	if (!planted)
		planted = MEMBW_PLANT_OVERHEAD;
	return planted && strcmp(planted, name) == 0;
}
#define FAULT_OVERHEAD(name) fault_planted(name)
#else
#define FAULT_OVERHEAD(name) 0
#endif
