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

/* STREAM's table, without a finding and a bound, which a reader of the table takes for a figure;
 * else that there is none, and why. */
int table_is_printed(const struct measurement *measurement, unsigned found);
void table_print(const struct measurement *measurement, unsigned found);

/* The rates with their signs, as no parser of STREAM's table takes them; WORD: the verdict, NULL
 * where it is VALID. */
void table_rates(const struct measurement *measurement, const char *word);

/* How near the best kernel comes to the theoretical peak, where one is known. */
void table_peak(const struct measurement *measurement);

/* STREAM's sentence where its table is printed; then ours, which says more. */
void table_validation(const struct validation *validation, const struct arrays *arrays,
		      int is_printed);

/* Of a run of one process: its table, its record, its verdict; the exit status. */
int report(const struct run *run);
