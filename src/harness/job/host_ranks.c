#include "host_ranks.h"

#include "../plural.h"
#include "../verdict.h"

static const struct host_rank *host_rank_list;
static int host_rank_count, host_rank_own_place;

void host_ranks_know(const struct host_rank *all, int count, int own)
{
	host_rank_list = all;
	host_rank_count = count;
	host_rank_own_place = own;
}

int host_ranks_before(void)
{
	return host_rank_own_place;
}

static int host_rank_overlap(const struct cpuset *x, const struct cpuset *y)
{
	struct cpuset both = *x;

	cpuset_join(&both, y);
	return cpuset_count(&both) < cpuset_count(x) + cpuset_count(y);
}

int host_ranks_using(const struct cpuset *cpus)
{
	int i, using = 0;

	for (i = 0; i < host_rank_count; i++)
		using += host_rank_overlap(&host_rank_list[i].cpus, cpus);
	return using > 1 ? using : 1;
}

static void host_rank_judge_pair(const struct host_rank *self, const struct host_rank *other)
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
	for (i = 0; i < host_rank_count; i++) {
		if (!host_rank_overlap(&host_rank_list[i].cpus,
				       &host_rank_list[host_rank_own_place].cpus))
			continue;
		if (i != host_rank_own_place)
			host_rank_judge_pair(&host_rank_list[host_rank_own_place],
					     &host_rank_list[i]);
		cpuset_join(&together, &host_rank_list[i].cpus);
		threads += host_rank_list[i].threads;
		sharing++;
	}
	if (sharing > 1 && threads > cpuset_count(&together))
		verdict_invalid(OVERSUBSCRIBED,
				"%d ranks of this job share CPUs: %d threads on %d CPU%s (%s)",
				sharing, threads, cpuset_count(&together),
				plural(cpuset_count(&together)), cpuset_format(&together, list));
}
