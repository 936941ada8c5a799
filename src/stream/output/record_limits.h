/*
 * record_limits: what --limits measured, in the record and on the screen.
 */
#ifndef MEMBW_RECORD_LIMITS_H
#define MEMBW_RECORD_LIMITS_H

#include "../search/limits.h"

/* Writes "limits"; null where they were not measured. */
void record_limits(const struct limits *limits);

void table_limits(const struct limits *limits);

#endif
