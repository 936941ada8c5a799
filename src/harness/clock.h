/*
 * clock: seconds of a clock that never jumps, and its granularity.
 *
 * CLOCK_MONOTONIC_RAW: chrony slews CLOCK_MONOTONIC by up to 8 %, and the CPU time of threads,
 * with which it is compared, is not slewed.  Before Linux 5.3 on x86 it is a system call, of some
 * 0.2 us.
 */
#pragma once

#include "config.h"

LOCAL double clock_now(void);

/* CPU seconds of this thread, of this process. */
LOCAL double clock_thread(void);
LOCAL double clock_process(void);

/* The smallest step that the clock was seen to take, in seconds. */
LOCAL double clock_tick(void);
