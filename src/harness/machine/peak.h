/*
 * peak: what the memory can deliver in theory, and how that is known.
 *
 * Given by --peak, it is a fact: more than that is too good to be true, and
 * the run INVALID.  Without the option it is derived from the firmware's
 * description: channels with a module x configured MT/s x 8 B.  The channels
 * are counted by the kernel's driver (edac.h), else by the names of the slots
 * (channels.h); where the two differ, there is no peak.  Firmware errs, names
 * mislead: a figure above such a peak is a warning, unless '--strict too-good'
 * asks for more.  A wrong guess must not throw away a right measurement.
 */
#ifndef MEMBW_PEAK_H
#define MEMBW_PEAK_H

#include "dmi.h"

enum peak_source { PEAK_NONE, PEAK_OPTION, PEAK_DMI };

extern const char *const peak_sources[];

struct peak {
	double gbs; /* of the node; 0: not known */
	enum peak_source source;
	int channels;               /* with a module; 0: not known */
	char note[256];             /* how it was derived, or why it was not */
	const char *modules_source; /* "dmi", "edac", "none" */
	struct modules modules;
};

/* GB/s as given, or derived where 0 was given. */
void peak_find(struct peak *peak, double given_gbs);

#endif
