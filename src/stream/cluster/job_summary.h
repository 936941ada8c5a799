/*
 * job_summary: what rank 0 prints of all nodes: the sorted list and the summary in the layout of
 * CEA's MPI_STREAM, who is missing, what was found where, and the verdict on the whole job.
 */
#ifndef MEMBW_JOB_SUMMARY_H
#define MEMBW_JOB_SUMMARY_H

#include "../options.h"
#include "node_stats.h"

void summary_print(const struct summary *summaries, int count, const struct options *options,
		   const char *(*name_of)(int rank));

/* The last line; 1 if the job is complete and every rank is valid.  GAVE_UP is why it ended
 * early, NULL if it did not. */
int summary_verdict(const struct summary *summaries, int count, const struct options *options,
		    const char *(*name_of)(int rank), const char *gave_up);

#endif
