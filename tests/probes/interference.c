/*
 * interference: what is found of a run that a test made up. Arguments: how many CPUs /proc/stat
 * has at the start, and at the end; in between, the seconds that all of them were busy, that this
 * process, of two threads, used of these, and that went by.
 */
#include "../../src/harness/elementary.c"
#include "../../src/harness/json.c"
#include "../../src/harness/plural.c"
#include "../../src/harness/verdict.c"

#include "../../src/harness/evidence/interference.c"

static double node = 100, own, now;
static int cpus;
static char stat_text[4096];

FILE *sysfile_open(const char *path)
{
	int cpu;

	*stat_text = '\0';
	for (cpu = 0; cpu < cpus; cpu++)
		sprintf(stat_text + strlen(stat_text), "cpu%d %.0f 0 0 0 0 0 0 0\n", cpu,
			node / cpus * (double)sysconf(_SC_CLK_TCK));
	return fmemopen(stat_text, strlen(stat_text), "r");
}

int sysfile_next(FILE *file, char *line, size_t size)
{
	return fgets(line, (int)size, file) != NULL;
}

double clock_now(void)
{
	return now;
}

double clock_process(void)
{
	return own;
}

double cgroup_throttled(void)
{
	return 0;
}

const struct cpuset *threads_cpus(void)
{
	static struct cpuset all;

	return &all;
}

int cpuset_has(const struct cpuset *set, int cpu)
{
	return 1;
}

int threads_most(void)
{
	return 2;
}

void neighbours_start(void) {}

void neighbours_stop(int ranks) {}

void neighbours_write(void) {}

const char *neighbours_text(void)
{
	return "";
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return EXIT_USAGE;
	cpus = atoi(argv[1]);
	interference_run_start();
	cpus = atoi(argv[2]);
	node += atof(argv[3]);
	own += atof(argv[4]);
	now += atof(argv[5]);
	interference_run_stop(NULL, 1);
	interference_judge();
	verdict_print(stdout);
	printf("%s\n", interference_is_loud() ? "a lower bound" : "an estimate");
	return 0;
}
