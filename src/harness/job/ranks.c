#include "ranks.h"

#include <unistd.h>

/* srun alone sets it, for what it starts; a batch script has none. */
static const char STEP_TASKS[] = "SLURM_STEP_NUM_TASKS";

static int me, job_ranks = 1;
static double asked_limit;

int ranks_me(void)
{
	return me;
}

int ranks_count(void)
{
	return job_ranks;
}

const char *ranks_node(void)
{
	static char name[NODE_NAME_MAX];
	const char *slurm = getenv("SLURMD_NODENAME");

	if (*name)
		return name;
	if (slurm && *slurm && (job_ranks > 1 || getenv(STEP_TASKS)))
		strncpy(name, slurm, sizeof(name) - 1);
	else
		gethostname(name, sizeof(name) - 1);
	return name;
}

void ranks_limit_ask(double seconds)
{
	asked_limit = seconds;
}

double ranks_limit(double own_step)
{
	if (asked_limit > 0)
		return asked_limit;
	return own_step * LIMIT_STEPS > LIMIT_SECONDS ? own_step * LIMIT_STEPS : LIMIT_SECONDS;
}

void ranks_by_slurm(void)
{
	const char *count = getenv(STEP_TASKS), *rank = getenv("SLURM_PROCID");

	if (!count || !rank || atoi(count) < 2)
		return;
	job_ranks = atoi(count);
	me = atoi(rank);
}

void ranks_are(int rank, int count)
{
	me = rank;
	job_ranks = count;
}
