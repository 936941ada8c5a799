#include "interference.h"

#include "../clock.h"
#include "../job/host_ranks.h"
#include "../verdict.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double SHARE_ALLOWED = 0.05, LEAST_SECONDS = 0.1;

static double own_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_cpus(struct busy *busy, const struct cpuset *cpus)
{
	const double hertz = (double)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "r");
	char line[1024];

	busy->all = busy->steal = 0;
	while (file && fgets(line, sizeof(line), file)) {
		double user = 0, nice = 0, system = 0, idle, wait, irq = 0, softirq = 0, steal = 0;
		int cpu;

		if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice,
			   &system, &idle, &wait, &irq, &softirq, &steal) < 5 ||
		    line[3] == ' ' || !cpuset_has(cpus, cpu))
			continue;
		busy->all += (user + nice + system + irq + softirq) / hertz;
		busy->steal += steal / hertz;
	}
	if (file)
		fclose(file);
}

void busy_start(struct busy *busy, const struct cpuset *cpus)
{
	read_cpus(busy, cpus);
	busy->own = own_seconds();
	busy->wall = clock_now();
}

static double others(const struct busy *busy)
{
	const double seconds = busy->all - busy->own;

	return (seconds > 0 ? seconds : 0) + busy->steal;
}

double busy_share(const struct busy *busy, const struct cpuset *cpus)
{
	return busy->wall > 0 ? others(busy) / (busy->wall * cpuset_count(cpus)) : 0;
}

void busy_stop(struct busy *busy, const struct cpuset *cpus)
{
	const double own = own_seconds() - busy->own;
	struct busy now;
	char list[CPU_LIST_MAX];
	double ours;

	read_cpus(&now, cpus);
	busy->wall = clock_now() - busy->wall;
	busy->all = now.all - busy->all;
	busy->steal = now.steal - busy->steal;
	ours = siblings_sum_on_our_cpus(own);
	busy->own = ours < 0 ? own : ours;
	if (ours < 0)
		return; /* whose time it was cannot be told */
	if (others(busy) > LEAST_SECONDS && busy_share(busy, cpus) > SHARE_ALLOWED)
		verdict_invalid(DISTURBED,
				"others took %.0f %% of the time of CPUs %s (%.2f s stolen), more "
				"than %.0f %%",
				100 * busy_share(busy, cpus), cpuset_format(cpus, list),
				busy->steal, 100 * SHARE_ALLOWED);
}
