/*
 * exchanges: the run of two ranks: pairs, sizes, verdict, record, table.
 */
#pragma once

#include "messages.h"

/* How often two looks at a size are taken where they disagree. */
enum { EXCHANGE_TRIES = 3 };

/* One way: us of the median; 10^6 B/s. */
double exchange_us(const struct exchange *exchange);
double exchange_mb_s(const struct exchange *exchange);

/* Why its times are invalid, -1 for no reason. */
int exchange_reason(const struct exchange *exchange);

/* Finds wrong-pinning at one of its ends, that of RANK. */
void place_judge(const struct exchange *exchange, int side, int rank);

/* What a record says of its times. */
void exchange_write(const struct exchange *exchange);

/* Every CPU that this process could pin itself to, whatever the launcher bound it to. */
void exchanges_cpus(struct cpuset *cpus);

/* Pairs of CPUs of two nodes: as ASKED for, else the first CPU of each. */
void exchanges_choose_remote(struct pairs *pairs, const struct cpuset *cpus, int requested);

/* On rank 0: measures all pairs at all sizes, BUDGET seconds at most for each. */
void exchanges_run(const struct pairs *pairs, double budget);

/* On rank 0: verdict, metrics and table; CLASS: which the pairs must be of. */
void exchanges_conclude(int class);

/* Its part of the record. */
void exchanges_write(void);
