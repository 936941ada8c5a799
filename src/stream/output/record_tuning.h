/*
 * record_tuning: what the search saw, as a part of the record.
 */
#ifndef MEMBW_RECORD_TUNING_H
#define MEMBW_RECORD_TUNING_H

#include "../search/search.h"

/* Writes "tuning"; null where there was no search. */
void record_tuning(const struct tuning *tuning);

#endif
