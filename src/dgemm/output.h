/*
 * output: the table for people, the metrics and the program's part of the record.
 */
#pragma once

#include "blas/blas.h"
#include "measure.h"

struct run {
	struct blas blas;
	struct shape shapes[SHAPES];
	int count;
	int threads;   /* requested */
	double stated; /* GFlop/s, 0: not known */
};

void output_print(const struct run *run);
void output_metrics(const struct run *run);
void output_write(const void *run);
