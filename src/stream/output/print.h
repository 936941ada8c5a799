/*
 * print: what a person and STREAM's parsers read.
 */
#pragma once

#include "../run.h"

/* Before the run: what will be measured. */
void table_banner(const struct options *options, const struct residency_found *residency,
		  const char *note);

/* Kernels that Fortran has no loop of. */
void table_kernels(void);
void table_print(const struct measurement *measurement);

/* How near the best kernel comes to the theoretical peak, where one is known. */
void table_peak(const struct measurement *measurement);

void table_validation(const struct validation *validation, const struct arrays *arrays);

/* Of a run of one process: its table, its record, its verdict; the exit status. */
int report(const struct run *run);
