/*
 * search_record: what the search saw, as a part of the record.
 */
#ifndef MEMBW_SEARCH_RECORD_H
#define MEMBW_SEARCH_RECORD_H

#include "search.h"

/* Writes "tuning"; null where there was no search. */
void search_record(const struct tuning *tuning);

#endif
