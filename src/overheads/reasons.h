/*
 * reasons: why an overhead is invalid, in addition to what the harness finds.
 */
#pragma once

#include "../harness/verdict.h"

/* In the order of their names in main.c. */
enum { NEGATIVE_OVERHEAD = REASONS, FEWER_THREADS, DELAY_OPTIMIZED_AWAY };
