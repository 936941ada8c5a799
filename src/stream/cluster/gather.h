/*
 * collect: the results of all ranks come to rank 0, whoever is missing.
 */
#ifndef MEMBW_COLLECT_H
#define MEMBW_COLLECT_H

#include "../run.h"

/* Rank 0: hears the others, writes their records, prints; the exit status. */
int collect_lead(struct run *run, const char *text, size_t size, double own_step);

/* The others: hand over; the exit status. */
int collect_follow(struct run *run, const char *text, size_t size, double own_step);

#endif
