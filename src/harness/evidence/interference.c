#include "interference.h"

#include "../clock.h"
#include "../json.h"
#include "../machine/cgroup.h"
#include "../plural.h"
#include "../sysfile.h"
#include "../verdict.h"
#include "neighbours.h"
#include "threads.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct interference interference_of_run;
static int interference_owner_unknown; /* other ranks on these CPUs did not answer */
static int interference_unknown;       /* /proc/stat does not say */
static double interference_throttled;  /* seconds in the run, summed over the CPUs */
static long interference_read_back;    /* pages of this process in the run, from swap or a file */

static const double INTERFERENCE_SHARE_ALLOWED = 0.05, INTERFERENCE_CPUS_ALLOWED = 0.5;
static const double INTERFERENCE_LEAST_SECONDS = 0.1, INTERFERENCE_CLOCK_OFF = 1.05;
/* Of a CPU that a hypervisor had taken the kernel counts afterwards. */
static const double INTERFERENCE_LATE = 0.25;
/* Of a library that is used for the first time a few are read. */
enum { READ_BACK_ALLOWED = 100 };

/* Two looks are at the same CPUs: those of the first. */
static void interference_read_cpus(struct interference *busy, const struct cpuset *on)
{
	const double hertz = (double)sysconf(_SC_CLK_TCK);
	FILE *const file = sysfile_open("/proc/stat");
	char line[1024];

	busy->all = busy->steal = busy->node = busy->stolen = busy->served = 0;
	busy->cpus = 0;
	busy->on = *on;
	while (sysfile_next(file, line, sizeof(line))) {
		double user = 0, nice = 0, system = 0, idle, wait, irq = 0, softirq = 0, steal = 0;
		int cpu;

		if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice,
			   &system, &idle, &wait, &irq, &softirq, &steal) < 5 ||
		    line[3] == ' ')
			continue;
		busy->cpus++;
		busy->node += (user + nice + system + irq + softirq + steal) / hertz;
		busy->stolen += steal / hertz;
		busy->served += (irq + softirq) / hertz;
		if (!cpuset_has(on, cpu))
			continue;
		busy->all += (user + nice + system + irq + softirq) / hertz;
		busy->steal += steal / hertz;
	}
}

static long interference_major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_majflt : 0;
}

double interference_stolen(void)
{
	struct interference now;

	interference_read_cpus(&now, threads_cpus());
	return now.steal;
}

void interference_start(struct interference *busy)
{
	interference_read_cpus(busy, threads_cpus());
	busy->own = clock_process();
	busy->wall = clock_now();
}

static double interference_above_0(double seconds)
{
	return seconds > 0 ? seconds : 0;
}

double interference_other_processes(const struct interference *busy)
{
	return interference_above_0(busy->all - busy->own) + busy->steal;
}

/* How many CPUs so many seconds of the run kept busy; 0 for too little to tell. */
static double interference_cpus_of(double seconds)
{
	const double wall = interference_of_run.wall;

	return !interference_owner_unknown && wall > 0 && seconds > INTERFERENCE_LEAST_SECONDS
		       ? seconds / wall
		       : 0;
}

/* CPUs that other processes kept busy; that a hypervisor stole; both, and interrupts. */
static double interference_others(void)
{
	const struct interference *const run = &interference_of_run;

	return interference_cpus_of(run->node - run->stolen - run->served - run->own);
}

static double interference_stolen_cpus(void)
{
	return interference_cpus_of(interference_of_run.stolen);
}

static double interference_taken(void)
{
	return interference_cpus_of(interference_of_run.node - interference_of_run.own);
}

static double interference_share_of(double cpus)
{
	return interference_of_run.cpus ? cpus / interference_of_run.cpus : 0;
}

void interference_stop(struct interference *busy)
{
	struct interference now;

	interference_read_cpus(&now, &busy->on);
	busy->wall = clock_now() - busy->wall;
	busy->own = clock_process() - busy->own;
	busy->all = interference_above_0(now.all - busy->all);
	busy->steal = interference_above_0(now.steal - busy->steal);
	busy->node = interference_above_0(now.node - busy->node);
	busy->stolen = interference_above_0(now.stolen - busy->stolen);
	busy->served = interference_above_0(now.served - busy->served);
	interference_unknown = now.all <= 0 || now.cpus != busy->cpus;
	if (interference_unknown)
		verdict_warn(DISTURBED, now.cpus != busy->cpus
						? "not known: CPUs went on or off meanwhile"
						: "not known: /proc/stat does not say how busy "
						  "these CPUs are");
}

void interference_run_start(void)
{
	neighbours_start();
	interference_throttled = -cgroup_throttled();
	interference_read_back = -interference_major_faults();
	interference_start(&interference_of_run);
}

/* As many as the kernel knows in this process: a library's, too. */
static int interference_threads(void)
{
	struct stat folder;
	int count = threads_most();

	if (stat("/proc/self/task", &folder) == 0 && (int)folder.st_nlink - 2 > count)
		count = (int)folder.st_nlink - 2;
	return interference_of_run.cpus && count > interference_of_run.cpus
		       ? interference_of_run.cpus
		       : count;
}

/* Neither this process's threads nor all CPUs together can be busy for longer than time went on;
 * the kernel counts in ticks, of each CPU. */
static void interference_judge_clock(void)
{
	const double own = interference_of_run.own, wall = interference_of_run.wall;
	const double tick = 1 / (double)sysconf(_SC_CLK_TCK);
	const int threads = interference_threads(), cpus = interference_of_run.cpus;

	if (own > INTERFERENCE_CLOCK_OFF * threads * wall + tick)
		verdict_invalid(CLOCK,
				"%d thread%s used %.2f s of CPU time in %.2f s: the clock is slow",
				threads, plural(threads), own, wall);
	if (!interference_unknown &&
	    interference_of_run.node > cpus * (INTERFERENCE_CLOCK_OFF * wall + INTERFERENCE_LATE))
		verdict_invalid(CLOCK,
				"the node's %d CPU%s were busy for %.2f s in %.2f s: the clock is "
				"slow",
				cpus, plural(cpus), interference_of_run.node, wall);
}

void interference_run_stop(double (*of_job)(double own), int ranks)
{
	double ours;

	interference_stop(&interference_of_run);
	interference_judge_clock();
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

static int interference_kept_waiting(void)
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
			 ", by the CPU quota of the cgroup, which throttled its tasks for %.1f s "
			 "in %.1f s",
			 interference_throttled, interference_of_run.wall);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", neighbours_text());
	return text;
}

int interference_is_loud(void)
{
	return interference_unknown || interference_kept_waiting() ||
	       interference_others() > INTERFERENCE_CPUS_ALLOWED ||
	       interference_share_of(interference_taken()) > INTERFERENCE_SHARE_ALLOWED;
}

/* Of few CPUs a share; by whom most of it was. */
static const char *interference_who(void)
{
	static char text[128];
	const double others = interference_others(), stolen = interference_stolen_cpus();
	const double cpus = stolen > others ? stolen : interference_taken() - stolen;
	const char *who = stolen > others ? "a hypervisor stole" : "other processes used";

	if (interference_of_run.cpus * INTERFERENCE_SHARE_ALLOWED > INTERFERENCE_CPUS_ALLOWED)
		snprintf(text, sizeof(text), "%s %.1f of %d CPUs", who, cpus,
			 interference_of_run.cpus);
	else
		snprintf(text, sizeof(text), "%s %.0f %% of the CPUs", who,
			 100 * interference_share_of(cpus));
	return text;
}

const char *interference_text(void)
{
	static char text[160];

	if (interference_unknown)
		return "; how busy the CPUs were is not known";
	snprintf(text, sizeof(text), "; %s%s", interference_who(),
		 interference_share_of(interference_taken()) > 0.5 ? ": a weak bound" : "");
	return text;
}

void interference_judge(void)
{
	char stolen[64] = "";

	if (interference_of_run.steal > 0)
		snprintf(stolen, sizeof(stolen), " (%.2f s stolen of ours)",
			 interference_of_run.steal);
	if (interference_kept_waiting())
		verdict_warn(DISTURBED, "threads had to wait%s", interference_by());
	else if (!interference_unknown && interference_is_loud())
		verdict_warn(DISTURBED, "%s%s%s", interference_who(), stolen, interference_by());
}

void interference_write(void)
{
	json_open("busy", '{');
	json_number("wall_s", interference_of_run.wall);
	json_number("own_s", interference_of_run.own);
	json_number("all_s", interference_of_run.all);
	json_number("steal_s", interference_of_run.steal);
	json_number("other_share", interference_share_of(interference_others()));
	json_number("stolen_share", interference_share_of(interference_stolen_cpus()));
	if (interference_throttled > 0)
		json_number("throttled_s", interference_throttled);
	if (interference_read_back > 0)
		json_count("major_faults", (unsigned long long)interference_read_back);
	neighbours_write();
	json_close('}');
}
