#include "ranks.h"

#include <ctype.h>
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

/* As Slurm names it in all that it starts, or as Kubernetes names it in a pod (spec.nodeName). */
static const char *ranks_node_variable(void)
{
	const char *const slurm = getenv("SLURMD_NODENAME");

	if (slurm && *slurm)
		return slurm;
	return getenv("KUBERNETES_SERVICE_HOST") ? getenv("NODE_NAME") : NULL;
}

const char *ranks_node(void)
{
	static char name[NODE_NAME_MAX];
	const char *const variable = *name ? NULL : ranks_node_variable();

	if (variable)
		strncpy(name, variable, sizeof(name) - 1);
	if (!*name)
		gethostname(name, sizeof(name) - 1);
	if (!isalnum((unsigned char)*name)) /* "(none)": it has none */
		strcpy(name, "localhost");
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
