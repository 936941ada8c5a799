/*
 * limits_record: what --limits measured, in the record and on the screen.
 */
#ifndef MEMBW_LIMITS_RECORD_H
#define MEMBW_LIMITS_RECORD_H

#include "limits.h"

/* Writes "limits"; null where they were not measured. */
void limits_record(const struct limits *limits);

void limits_print(const struct limits *limits);

#endif
