/*
 * start_values: what the arrays begin with, and begin with again.
 */
#pragma once

#include "arrays.h"

/* First touch: each thread writes the part that it will work on. */
void kernels_first_touch(const struct arrays *arrays);

/* After expect_reset_every() iterations: the arrays that an iteration begins with hold the
 * start values again, and a wrong element stays wrong by the same bits; not timed. */
void kernels_reset(const struct arrays *arrays);
