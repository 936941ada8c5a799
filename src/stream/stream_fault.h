/*
 * stream_fault: what tests plant at compile time; without these macros nothing of it is there.
 *
 *   MEMBW_PLANT_SLOW_BUT="-u4-"  the search sees every variant take nine times as long whose
 *                                name has not that in it
 *   MEMBW_PLANT_LIMIT=L          --limits: after each run of limit number L (limits.h) the lowest
 *                                bit of one element is flipped; the sum of what is read is then
 *                                that of the flipped array
 */
#pragma once

#include "tuned/variants.h"

#include <string.h>

/* What a run took, in the eyes of the search. */
static __inline__ double fault_slow(double seconds, const struct variant *variant)
{
#ifdef MEMBW_PLANT_SLOW_BUT
	char name[VARIANT_NAME_MAX];

	if (!strstr(variants_name(variant, name), MEMBW_PLANT_SLOW_BUT))
		return 9 * seconds;
#endif
	(void)variant;
	return seconds;
}

/* To be called between two runs of a limit. */
static __inline__ void fault_limit(int limit, element *at)
{
#ifdef MEMBW_PLANT_LIMIT
	if (limit == MEMBW_PLANT_LIMIT)
		*(unsigned char *)at ^= 1;
#endif
	(void)limit;
	(void)at;
}
