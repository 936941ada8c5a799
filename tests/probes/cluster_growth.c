/*
 * Feeds rank 0's own code (src/stream/cluster/) with the summaries of a made-up cluster and says
 * what writing its records, joining, sorting and printing them costs.
 *
 * usage: cluster_growth RANKS RANKS_PER_NODE FILE [RATE_IN_MBS ...]
 * Into FILE go as many records as ranks, each as long as a real one.
 * With rates these are the nodes' Triad, on node6201 and on; else they are
 * drawn around 300 GB/s.  The report goes to stdout, the cost to stderr as JSON.
 */
#include "harness/clock.h"
#include "harness/job/ranks.h"
#include "harness/job/record_file.h"
#include "harness/sysfile.h"
#include "stream/cluster/job_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *names;
static char record[6600];
static int ranks_per_node = 1;

/* Not getrusage's figure: that one a process inherits from whoever started it. */
static long peak_kib(void)
{
	char value[SYSLINE_MAX];

	return sysfile_field(value, "/proc/self/status", "VmHWM") ? atol(value) : 0;
}

/* A fixed generator: the same cluster every time. */
static double uniform(void)
{
	static unsigned long long state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static void fill(struct summary *s, int rank, double mbs)
{
	int k;

	s->rank = rank;
	s->node = names + (size_t)(rank / ranks_per_node) * NODE_NAME_MAX;
	s->threads = 128;
	for (k = 0; k < KERNELS; k++)
		s->mbs[k] = s->node_mbs[k] = mbs > 0 ? mbs : 300000 * (1 + 0.01 * uniform());
}

int main(int argc, char **argv)
{
	const int ranks = argc > 1 ? atoi(argv[1]) : 0;
	const long before = peak_kib();
	struct summary *summaries;
	double start;
	int i;

	if (argc < 4)
		return 2;
	ranks_per_node = atoi(argv[2]);
	setenv("SLURM_STEP_NUM_TASKS", argv[1], 1);
	setenv("SLURM_PROCID", "0", 1);
	ranks_start(&argc, &argv);
	record_file_open(argv[3]);
	memset(record, 'x', sizeof(record) - 1);
	record[sizeof(record) - 1] = '\n';
	summaries = calloc((size_t)ranks, sizeof(*summaries));
	names = calloc((size_t)ranks, NODE_NAME_MAX);
	if (!summaries || !names || ranks < 1 || ranks_per_node < 1)
		return 2;
	for (i = 0; i < ranks; i++) {
		snprintf(names + (size_t)i * NODE_NAME_MAX, NODE_NAME_MAX, "node%d", 6201 + i);
		fill(&summaries[i], i, i + 4 < argc ? atof(argv[i + 4]) : 0);
	}
	start = clock_now();
	for (i = 0; i < ranks; i++)
		record_file_gather(record, sizeof(record));
	record_file_publish();
	summary_print(summaries, ranks);
	summary_verdict(summaries, ranks);
	fflush(stdout);
	fprintf(stderr,
		"{\"ranks\": %d, \"seconds\": %.6f, \"mib\": %.2f, \"summary_bytes\": %d}\n",
		ranks, clock_now() - start, (double)(peak_kib() - before) / 1024,
		(int)sizeof(*summaries));
	return 0;
}
