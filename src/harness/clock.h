/*
 * clock: seconds of a clock that never jumps, and its granularity.
 */
#pragma once

#include "config.h"

LOCAL double clock_now(void);

/* CPU seconds of this thread, of this process. */
LOCAL double clock_thread(void);
LOCAL double clock_process(void);

/* The smallest step that the clock was seen to take, in seconds. */
LOCAL double clock_tick(void);
