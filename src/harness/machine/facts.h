/*
 * facts: what explains a figure later, read from /sys and /proc.
 */
#ifndef MEMBW_FACTS_H
#define MEMBW_FACTS_H

#include "peak.h"

/* Writes the object "facts" of the record. */
void facts_write(const struct peak *peak);

#endif
