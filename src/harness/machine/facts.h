/*
 * facts: what explains a figure later, read from /sys and /proc.
 */
#pragma once

#include "../config.h"

/* Writes "facts" of the record. */
LOCAL void facts_write(void);
