/*
 * plural: the ending of what is counted.
 */
#pragma once

#include "config.h"

/* "s", and "" of one. */
LOCAL const char *plural(long count);
