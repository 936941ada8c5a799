#include "interference.h"

#include "../clock.h"
#include "../json.h"
#include "../machine/cgroup.h"
#include "../verdict.h"
#include "neighbours.h"
#include "threads.h"

#include <sys/resource.h>
#include <unistd.h>

static struct interference interference_of_run;
static int interference_owner_unknown; /* other ranks on these CPUs did not answer */
static int interference_unknown;       /* /proc/stat does not say */
static double interference_throttled;  /* seconds in the run, summed over the CPUs */
static long interference_read_back;    /* pages of this process in the run, from swap or a file */

static const double INTERFERENCE_SHARE_ALLOWED = 0.05, INTERFERENCE_LEAST_SECONDS = 0.1;
/* Of a library that is used for the first time a few are read. */
enum { READ_BACK_ALLOWED = 100 };

static void interference_read_cpus(struct interference *busy)
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
		    line[3] == ' ' || !cpuset_has(threads_cpus(), cpu))
			continue;
		busy->all += (user + nice + system + irq + softirq) / hertz;
		busy->steal += steal / hertz;
	}
	if (file)
		fclose(file);
}

static long interference_major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_majflt : 0;
}

double interference_stolen(void)
{
	struct interference now;

	interference_read_cpus(&now);
	return now.steal;
}

void interference_start(struct interference *busy)
{
	interference_read_cpus(busy);
	busy->own = clock_process();
	busy->wall = clock_now();
}

double interference_others(const struct interference *busy)
{
	const double seconds = busy->all - busy->own;

	return (seconds > 0 ? seconds : 0) + busy->steal;
}

static double interference_others_share(void)
{
	const double wall = interference_of_run.wall * cpuset_count(threads_cpus());

	return wall > 0 ? interference_others(&interference_of_run) / wall : 0;
}

void interference_stop(struct interference *busy)
{
	struct interference now;

	interference_read_cpus(&now);
	busy->wall = clock_now() - busy->wall;
	busy->own = clock_process() - busy->own;
	busy->all = now.all - busy->all;
	busy->steal = now.steal - busy->steal;
	interference_unknown = now.all <= 0;
	if (interference_unknown)
		verdict_warn(DISTURBED,
			     "not known: /proc/stat does not say how busy these CPUs are");
}

void interference_run_start(void)
{
	neighbours_start();
	interference_throttled = -cgroup_throttled();
	interference_read_back = -interference_major_faults();
	interference_start(&interference_of_run);
}

void interference_run_stop(double (*of_job)(double own), int ranks)
{
	double ours;

	interference_stop(&interference_of_run);
	interference_throttled += cgroup_throttled();
	interference_read_back += interference_major_faults();
	neighbours_stop(ranks);
	ours = of_job ? of_job(interference_of_run.own) : interference_of_run.own;
	interference_owner_unknown = ours < 0;
	if (!interference_owner_unknown)
		interference_of_run.own = ours;
}

static int interference_is_throttled(void)
{
	return interference_throttled > INTERFERENCE_LEAST_SECONDS &&
	       interference_throttled > INTERFERENCE_SHARE_ALLOWED * interference_of_run.wall;
}

static int interference_was_swapped(void)
{
	return interference_read_back > READ_BACK_ALLOWED;
}

/* Not by others: it is so in each run, and can be mended. */
static int interference_was_held_back(void)
{
	return interference_is_throttled() || interference_was_swapped();
}

const char *interference_by(void)
{
	static char text[2048];

	*text = '\0';
	if (interference_was_swapped())
		snprintf(text, sizeof(text),
			 ", by %ld of its pages that came back from swap: memory is short here",
			 interference_read_back);
	else if (interference_is_throttled())
		snprintf(text, sizeof(text),
			 ", by the CPU quota of the cgroup, which held its tasks back for %.1f s "
			 "in %.1f s",
			 interference_throttled, interference_of_run.wall);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", neighbours_text());
	return text;
}

void interference_judge(void (*find)(int reason, const char *detail, ...))
{
	char list[CPU_LIST_MAX];

	if (interference_was_held_back())
		find(DISTURBED, "threads were kept waiting%s", interference_by());
	if (interference_owner_unknown ||
	    interference_others(&interference_of_run) <= INTERFERENCE_LEAST_SECONDS ||
	    interference_others_share() <= INTERFERENCE_SHARE_ALLOWED)
		return;
	find(DISTURBED,
	     "others took %.0f %% of the time of CPUs %s (%.2f s stolen), more than %.0f %%%s",
	     100 * interference_others_share(), cpuset_format(threads_cpus(), list),
	     interference_of_run.steal, 100 * INTERFERENCE_SHARE_ALLOWED, interference_by());
}

void interference_forgive(void)
{
	if (!interference_unknown && !interference_was_held_back())
		verdict_withdraw(DISTURBED);
}

void interference_write(void)
{
	json_open("busy", '{');
	json_number("wall_s", interference_of_run.wall);
	json_number("own_s", interference_of_run.own);
	json_number("all_s", interference_of_run.all);
	json_number("steal_s", interference_of_run.steal);
	json_number("others_share", interference_others_share());
	if (interference_throttled > 0)
		json_number("throttled_s", interference_throttled);
	if (interference_read_back > 0)
		json_count("major_faults", (unsigned long long)interference_read_back);
	neighbours_write();
	json_close('}');
}
