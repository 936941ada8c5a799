/*
 * facts: what explains a figure later, read from /sys and /proc.
 */
#pragma once

#include "../config.h"

/* Writes "facts" of the record. */
LOCAL void facts_write(void);

/* Whether this is a virtual machine, as far as the CPU (x86) says so: what else its host does
 * differs from run to run. */
LOCAL int facts_has_host(void);
