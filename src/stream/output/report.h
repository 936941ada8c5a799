/*
 * report: what a run ends with: table, record, verdict, exit status.
 */
#ifndef MEMBW_REPORT_H
#define MEMBW_REPORT_H

#include "../run.h"

/* Of a run of one process; the exit status. */
int report(const struct run *run);

#endif
