#include "host_ranks.h"

#include "../error.h"
#include "../verdict.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#ifdef MEMBW_MPI

struct sibling {
	struct cpuset cpus;
	int threads, rank;
	char node[NODE_NAME_MAX];
};

static MPI_Comm host, node;
static struct sibling *sibling;
static int siblings = 1, self, of_node = 1;

static int overlap(const struct cpuset *x, const struct cpuset *y)
{
	struct cpuset both = *x;

	cpuset_join(&both, y);
	return cpuset_count(&both) < cpuset_count(x) + cpuset_count(y);
}

static void split_by_node(void)
{
	int first = 0;

	while (strcmp(sibling[first].node, sibling[self].node) != 0)
		first++;
	MPI_Comm_split(host, first, self, &node);
	MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
	MPI_Comm_size(node, &of_node);
}

void siblings_meet(const struct cpuset *cpus, int threads)
{
	struct sibling mine;

	memset(&mine, 0, sizeof(mine));
	mine.cpus = *cpus;
	mine.threads = threads;
	mine.rank = ranks_me();
	strcpy(mine.node, ranks_node());
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks_me(), MPI_INFO_NULL,
			    &host);
	MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
	MPI_Comm_size(host, &siblings);
	MPI_Comm_rank(host, &self);
	sibling = calloc((size_t)siblings, sizeof(*sibling));
	if (!sibling)
		MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
	MPI_Allgather(&mine, (int)sizeof(mine), MPI_CHAR, sibling, (int)sizeof(mine), MPI_CHAR,
		      host);
	split_by_node();
}

int siblings_count(void)
{
	return of_node;
}

int siblings_using(const struct cpuset *cpus)
{
	int s, using = 0;

	for (s = 0; s < siblings && sibling; s++)
		using += overlap(&sibling[s].cpus, cpus);
	return using > 1 ? using : 1;
}

size_t siblings_sum(size_t value)
{
	return sibling ? ranks_reduce(value, MPI_SUM, node) : value;
}

size_t siblings_smallest(size_t value)
{
	return sibling ? ranks_reduce(value, MPI_MIN, node) : value;
}

double siblings_sum_on_our_cpus(double own)
{
	double *all = calloc((size_t)siblings, sizeof(*all));
	double sum = own;
	MPI_Request request;
	int s;

	if (siblings == 1 || !all || ranks_gave_up()) {
		free(all);
		return siblings == 1 ? own : -1;
	}
	MPI_Iallgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, host, &request);
	if (!ranks_wait_with_all(&request, ranks_limit(0)))
		return -1; /* what is still being received into is not freed */
	for (s = 0; s < siblings; s++)
		if (s != self && overlap(&sibling[s].cpus, &sibling[self].cpus))
			sum += all[s];
	free(all);
	return sum;
}

void siblings_judge(void)
{
	struct cpuset together;
	int s, threads, others = 0;
	char list[CPU_LIST_MAX];

	if (siblings == 1)
		return;
	together = sibling[self].cpus;
	threads = sibling[self].threads;
	for (s = 0; s < siblings; s++) {
		struct cpuset both = sibling[self].cpus;

		if (s == self || !overlap(&sibling[s].cpus, &sibling[self].cpus))
			continue;
		cpuset_join(&both, &sibling[s].cpus);
		cpuset_join(&together, &sibling[s].cpus);
		threads += sibling[s].threads;
		others++;
		if (sibling[self].threads + sibling[s].threads > cpuset_count(&both))
			verdict_invalid(OVERSUBSCRIBED,
					"rank %d of this job shares CPUs: %d and %d threads on %d "
					"CPUs (%s)",
					sibling[s].rank, sibling[self].threads, sibling[s].threads,
					cpuset_count(&both), cpuset_format(&both, list));
	}
	if (threads > cpuset_count(&together) && others)
		verdict_invalid(OVERSUBSCRIBED,
				"%d ranks of this job share CPUs: %d threads on %d CPUs (%s)",
				others + 1, threads, cpuset_count(&together),
				cpuset_format(&together, list));
}

int siblings_slowest(const double *own, double *of_its_node, double *job, int count)
{
	MPI_Request request[2];

	if (ranks_gave_up())
		return 0;
	MPI_Iallreduce(own, of_its_node, count, MPI_DOUBLE, MPI_MAX, node, &request[0]);
	MPI_Ireduce(own, job, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD, &request[1]);
	return ranks_wait_with_all(&request[0], ranks_limit(0)) &&
	       ranks_wait_with_all(&request[1], ranks_limit(0));
}

#else

void siblings_meet(const struct cpuset *cpus, int threads)
{
	(void)cpus;
	(void)threads;
}

int siblings_count(void)
{
	return 1;
}

int siblings_using(const struct cpuset *cpus)
{
	(void)cpus;
	return 1;
}

size_t siblings_sum(size_t value)
{
	return value;
}

size_t siblings_smallest(size_t value)
{
	return value;
}

double siblings_sum_on_our_cpus(double own)
{
	return own;
}

void siblings_judge(void) {}

int siblings_slowest(const double *own, double *of_its_node, double *job, int count)
{
	(void)own;
	(void)of_its_node;
	(void)job;
	(void)count;
	return 0;
}

#endif
