/*
 * output: the matrix as three tables, as metrics, and as a part of the record.
 */
#pragma once

#include "matrix.h"

static const double MUCH = 1.2; /* what is declared may be as many times off */

/* A line per domain with CPUs in each of three tables, and what firmware declares (HMAT): what
 * differs from it by more than 20 % has a '!'.  Then a note on the distances (SLIT). */
void output_print(const struct matrix *matrix);

/* ns_0_1: CPUs of domain 0, memory of domain 1; the same for read_gbs and triad_gbs. */
void output_metrics(const struct matrix *matrix);

void output_write(const void *matrix);

/* Whether that figure and what HMAT declares of it differ by more than 20 %; a lower bound below
 * it does not. */
int output_differs(const struct tier *p, int figure);
