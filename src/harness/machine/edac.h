/*
 * edac: the memory modules as the kernel's error detection driver sees them.
 *
 * Readable by everybody where such a driver is loaded; it knows which channel
 * a module really sits in, but no speeds.  Some drivers, those of AMD among
 * them, know ranks alone: the two of a module are one here.
 */
#pragma once

#include "dmi.h"

/* The modules, without speeds; returns how many channels have one, 0 where no
 * driver is loaded or the locations name no channel. */
LOCAL int edac_read(struct modules *modules);
