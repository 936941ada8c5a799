/*
 * line_size: bytes of a cache line of this machine: 64 on x86 and most of Arm, 128 on POWER, 256
 * on A64FX.
 */
#pragma once

#include "../config.h"

/* The largest that sysfs, the C library or the CPU says, from LINE to LINES_APART; else LINE. */
LOCAL size_t line_bytes(void);
