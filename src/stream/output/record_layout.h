/*
 * record_layout: how the arrays lie in memory, as a part of the record.
 */
#ifndef MEMBW_RECORD_LAYOUT_H
#define MEMBW_RECORD_LAYOUT_H

#include "../kernels/arrays.h"

/* Writes "alignment_bytes" and "stride_bytes". */
void record_layout(const struct arrays *arrays);

#endif
