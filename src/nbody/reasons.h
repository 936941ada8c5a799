/*
 * reasons: why a speed-up is invalid, in addition to what the harness finds.
 */
#pragma once

#include "../harness/verdict.h"

/* In the order of their names in main.c. */
enum { THREADS_IDLE = REASONS, OFFLOAD_NOT_DONE, NO_BASELINE };
