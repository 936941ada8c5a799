/*
 * cluster_block RATE ...: what rank 0 prints of a job of nodes node6201 and on, of these Triads in
 * MB/s, 128 threads each.
 */
#include "../../src/harness/harness.c"

#include "../../src/stream/cluster/job_summary.c"
#include "../../src/stream/kernels/arrays.c"
#include "../../src/stream/kernels/kernels.c"

int main(int argc, char **argv)
{
	static struct summary summaries[16];
	static char names[16][16];
	int rank, k;

	for (rank = 0; rank < argc - 1 && rank < 16; rank++) {
		snprintf(names[rank], sizeof(names[rank]), "node%d", 6201 + rank);
		summaries[rank].rank = rank;
		summaries[rank].node = names[rank];
		summaries[rank].threads = 128;
		for (k = 0; k < KERNELS; k++)
			summaries[rank].mbs[k] = summaries[rank].node_mbs[k] =
				atof(argv[rank + 1]);
	}
	summary_print(summaries, rank);
	return 0;
}
