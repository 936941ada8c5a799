/*
 * runtime: which OpenMP runtime this process has, and how its threads wait.
 */
#pragma once

#include "../harness/config.h"

/* "libgomp", "libomp", "libiomp5": the library that is mapped; "unknown": linked statically, or
 * another one. */
const char *runtime_name(void);

/* What the library says of its own version; "" where it says nothing. */
const char *runtime_version(void);

void runtime_write(void);
