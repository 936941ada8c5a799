/*
 * gather: the results of all ranks come to rank 0, whoever is missing.
 */
#ifndef MEMBW_GATHER_H
#define MEMBW_GATHER_H

#include "../run.h"

/* Rank 0 prints them; the exit status.  RECORDED: this rank's own record is on disk. */
int gather(const struct run *run, int recorded, double own_step);

#endif
