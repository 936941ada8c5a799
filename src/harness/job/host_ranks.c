#include "host_ranks.h"

#include "../plural.h"
#include "../verdict.h"

static const struct host_rank *on_this_host;
static int host_ranks, own_place;

void host_ranks_know(const struct host_rank *all, int count, int own)
{
	on_this_host = all;
	host_ranks = count;
	own_place = own;
}

int host_ranks_before(void)
{
	return own_place;
}

static int overlap(const struct cpuset *x, const struct cpuset *y)
{
	struct cpuset both = *x;

	cpuset_join(&both, y);
	return cpuset_count(&both) < cpuset_count(x) + cpuset_count(y);
}

int host_ranks_using(const struct cpuset *cpus)
{
	int i, using = 0;

	for (i = 0; i < host_ranks; i++)
		using += overlap(&on_this_host[i].cpus, cpus);
	return using > 1 ? using : 1;
}

double host_ranks_sum_on_our_cpus(const double *of_each)
{
	double sum = 0;
	int i;

	for (i = 0; i < host_ranks; i++)
		if (overlap(&on_this_host[i].cpus, &on_this_host[own_place].cpus))
			sum += of_each[i];
	return sum;
}

static void judge_pair(const struct host_rank *self, const struct host_rank *other)
{
	struct cpuset both = self->cpus;
	char list[CPU_LIST_MAX];

	cpuset_join(&both, &other->cpus);
	if (self->threads + other->threads > cpuset_count(&both))
		verdict_invalid(
			OVERSUBSCRIBED,
			"rank %d of this job shares CPUs: %d and %d threads on %d CPU%s (%s)",
			other->rank, self->threads, other->threads, cpuset_count(&both),
			plural(cpuset_count(&both)), cpuset_format(&both, list));
}

void host_ranks_judge(void)
{
	struct cpuset together;
	int i, threads = 0, sharing = 0;
	char list[CPU_LIST_MAX];

	cpuset_clear(&together);
	for (i = 0; i < host_ranks; i++) {
		if (!overlap(&on_this_host[i].cpus, &on_this_host[own_place].cpus))
			continue;
		if (i != own_place)
			judge_pair(&on_this_host[own_place], &on_this_host[i]);
		cpuset_join(&together, &on_this_host[i].cpus);
		threads += on_this_host[i].threads;
		sharing++;
	}
	if (sharing > 1 && threads > cpuset_count(&together))
		verdict_invalid(OVERSUBSCRIBED,
				"%d ranks of this job share CPUs: %d threads on %d CPU%s (%s)",
				sharing, threads, cpuset_count(&together),
				plural(cpuset_count(&together)), cpuset_format(&together, list));
}
