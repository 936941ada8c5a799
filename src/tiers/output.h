/*
 * output: the matrix as three tables, as metrics, and as a part of the record.
 */
#pragma once

#include "matrix.h"

/* A line per domain with CPUs in each of three tables; what differs from what firmware declares
 * by more than a fifth has a '!'. */
void output_print(const struct matrix *matrix);

/* ns_0_1: CPUs of domain 0, memory of domain 1; the same for read_gbs and triad_gbs. */
void output_metrics(const struct matrix *matrix);

void output_write(const struct matrix *matrix);

/* Whether a figure and what is declared of it differ by more than a fifth; not where either is 0.
 */
int output_differs(double measured, double declared);
