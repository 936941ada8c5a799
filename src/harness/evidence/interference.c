#include "../config.h"

#include "interference.h"

#include "../clock.h"
#include "../json.h"
#include "../verdict.h"
#include "neighbours.h"

#include <stdio.h>
#include <unistd.h>

static const double SHARE_ALLOWED = 0.05, LEAST_SECONDS = 0.1;

static void read_cpus(struct interference *busy, const struct cpuset *cpus)
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

double interference_stolen(const struct cpuset *cpus)
{
	struct interference now;

	read_cpus(&now, cpus);
	return now.steal;
}

void interference_start(struct interference *busy, const struct cpuset *cpus)
{
	read_cpus(busy, cpus);
	busy->own = clock_process();
	busy->wall = clock_now();
}

static double others(const struct interference *busy)
{
	const double seconds = busy->all - busy->own;

	return (seconds > 0 ? seconds : 0) + busy->steal;
}

static double others_share(const struct interference *busy, const struct cpuset *cpus)
{
	return busy->wall > 0 ? others(busy) / (busy->wall * cpuset_count(cpus)) : 0;
}

void interference_stop(struct interference *busy, const struct cpuset *cpus,
		       double (*of_job)(double own))
{
	const double own = clock_process() - busy->own;
	struct interference now;
	double ours;

	read_cpus(&now, cpus);
	busy->wall = clock_now() - busy->wall;
	busy->all = now.all - busy->all;
	busy->steal = now.steal - busy->steal;
	ours = of_job ? of_job(own) : own;
	busy->own = ours < 0 ? own : ours;
	busy->owner_unknown = ours < 0;
	if (now.all <= 0)
		verdict_warn(DISTURBED,
			     "not known: /proc/stat does not say how busy these CPUs are");
}

static int is_busy(const struct interference *busy, const struct cpuset *cpus)
{
	return !busy->owner_unknown && others(busy) > LEAST_SECONDS &&
	       others_share(busy, cpus) > SHARE_ALLOWED;
}

static const char *busy_text(const struct interference *busy, const struct cpuset *cpus)
{
	static char text[CPU_LIST_MAX + 384];
	char list[CPU_LIST_MAX];

	snprintf(text, sizeof(text),
		 "others took %.0f %% of the time of CPUs %s (%.2f s stolen), more than %.0f %%%s",
		 100 * others_share(busy, cpus), cpuset_format(cpus, list), busy->steal,
		 100 * SHARE_ALLOWED, neighbours_text());
	return text;
}

void interference_judge(const struct interference *busy, const struct cpuset *cpus)
{
	if (is_busy(busy, cpus))
		verdict_invalid(DISTURBED, "%s", busy_text(busy, cpus));
}

void interference_warn(const struct interference *busy, const struct cpuset *cpus)
{
	if (is_busy(busy, cpus))
		verdict_warn(DISTURBED, "%s", busy_text(busy, cpus));
}

void interference_write(const struct interference *busy, const struct cpuset *cpus)
{
	json_open("busy", '{');
	json_number("wall_s", busy->wall);
	json_number("own_s", busy->own);
	json_number("all_s", busy->all);
	json_number("steal_s", busy->steal);
	json_number("others_share", others_share(busy, cpus));
	neighbours_write();
	json_close('}');
}
