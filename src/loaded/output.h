/*
 * output: the sweep as a table for people, as metrics, and as a part of the record.
 */
#pragma once

#include "sweep.h"

/* Latencies by rate, a line per mix, then what each curve says: some fifteen lines. */
void output_print(const struct sweep *sweep);

/* unloaded_ns, and of each mix max_gbs, ns_at_half, gbs_at_2x (only where it saturates). */
void output_metrics(const struct sweep *sweep);

/* "highest_gbs" and "points" of the record. */
void output_write(const struct sweep *sweep);
