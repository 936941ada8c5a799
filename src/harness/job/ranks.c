#include "ranks.h"

#include <unistd.h>

/* srun alone sets it, for what it starts; a batch script has none. */
static const char RANK_STEP_TASKS[] = "SLURM_STEP_NUM_TASKS";

static int rank_own, rank_count = 1;
static double rank_time_limit;

int ranks_me(void)
{
	return rank_own;
}

int ranks_count(void)
{
	return rank_count;
}

const char *ranks_node(void)
{
	static char name[NODE_NAME_MAX];
	const char *slurm = getenv("SLURMD_NODENAME");

	if (*name)
		return name;
	if (slurm && *slurm && (rank_count > 1 || getenv(RANK_STEP_TASKS)))
		strncpy(name, slurm, sizeof(name) - 1);
	else
		gethostname(name, sizeof(name) - 1);
	return name;
}

void ranks_limit_ask(double seconds)
{
	rank_time_limit = seconds;
}

double ranks_limit(double own_step)
{
	if (rank_time_limit > 0)
		return rank_time_limit;
	return own_step * LIMIT_STEPS > LIMIT_SECONDS ? own_step * LIMIT_STEPS : LIMIT_SECONDS;
}

void ranks_by_slurm(void)
{
	const char *count = getenv(RANK_STEP_TASKS), *rank = getenv("SLURM_PROCID");

	if (!count || !rank || atoi(count) < 2)
		return;
	rank_count = atoi(count);
	rank_own = atoi(rank);
}

void ranks_are(int rank, int count)
{
	rank_own = rank;
	rank_count = count;
}
