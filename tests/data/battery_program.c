/*
 * battery_program: TEST DOUBLE of a program on virtual nodes, or hosts.  Its record lies ready as
 * MADE_UP/<node>-<program>.json, of further measurements <node>-<program>-again-<n>.json, with @
 * for the time; where there is none it dies of SIGBUS.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *const threads = getenv("OMP_NUM_THREADS");
	const char *node = getenv("SLURMD_NODENAME");
	char host[256] = "";
	const char *const program = strrchr(argv[0], '/') + 1;
	const int is_one = threads && strcmp(threads, "1") == 0 && strcmp(program, "stream") == 0;
	char folder[4096], path[9000], to[4096];
	const char *const tasks = getenv("SLURM_STEP_NUM_TASKS");
	const char *again, *rank;
	char day[32];
	struct timespec t;
	FILE *in = NULL, *out;
	int c;

	if (!node && gethostname(host, sizeof(host) - 1) == 0)
		node = host;
	again = getcwd(folder, sizeof(folder)) ? strstr(folder, "/again-") : NULL;
	if (again) {
		snprintf(path, sizeof(path), "%s/%s-%s-%s.json", MADE_UP, node, program,
			 again + 1);
		in = fopen(path, "r");
	}
	snprintf(path, sizeof(path), "%s/%s-%s.json", MADE_UP, node, is_one ? "one" : program);
	if (!in && !(in = fopen(path, "r")))
		return raise(SIGBUS);
	/* --json FILE is last; a rank has a file of its own */
	rank = tasks && strcmp(tasks, "1") != 0 ? getenv("SLURM_PROCID") : NULL;
	snprintf(to, sizeof(to), "%s%s%s", argv[argc - 1], rank ? ".rank-" : "", rank ? rank : "");
	out = fopen(to, "w");
	if (!out)
		return 2;
	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime(&t.tv_sec));
	while ((c = getc(in)) != EOF)
		if (c == '@')
			fprintf(out, "%s.%06ldZ", day, t.tv_nsec / 1000);
		else
			putc(c, out);
	return fclose(out) != 0;
}
