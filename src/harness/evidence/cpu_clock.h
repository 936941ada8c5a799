/*
 * cpu_clock: the clock of the CPU under this thread, now, without counters and without root.
 *
 * A chain of additions of two registers, each of which waits for the one before: one cycle each
 * on every x86-64 and 64-bit Arm CPU that runs instructions out of order.
 */
#pragma once

#include "../config.h"

/* GHz, of some 10 us; 0 where one cycle per addition is not known (Knights Corner and other
 * architectures).  An interrupt makes it less: take the median of several. */
LOCAL double cpu_clock_ghz(void);

/* Of additions that do not wait for each other, in some 20 us: what the core leaves to this
 * thread.  Work on the other hardware thread of the core, which a virtual machine does not see,
 * takes up to half of them and leaves the clock as it is.  0 as above. */
LOCAL double cpu_additions_per_cycle(void);
