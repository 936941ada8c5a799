/*
 * block: what rank 0 prints of all nodes: the sorted list and the summary
 * block in the layout of CEA's MPI_STREAM, and the verdict on the whole job.
 */
#ifndef MEMBW_BLOCK_H
#define MEMBW_BLOCK_H

#include "../options.h"
#include "node_stats.h"

/* List, summary, what is missing and what was found. */
void block_print(const struct summary *summaries, int count, const struct options *options,
		 const char *(*name_of)(int rank));

/* Its parts: the reasons of a set, with commas; what is missing and was found. */
void block_reasons(unsigned found);
void block_findings(const struct summary *summaries, int count, const char *(*name_of)(int));

/* The last line; returns 1 if the job is complete and every rank is valid.
 * GAVE_UP is why it ended early, NULL if it did not. */
int block_verdict(const struct summary *summaries, int count, const struct options *options,
		  const char *(*name_of)(int rank), const char *gave_up);

#endif
