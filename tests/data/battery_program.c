/*
 * battery_program: TEST DOUBLE of each program of `membw node`, on virtual nodes.  Its record lies
 * ready as MADE_UP/<node>-<program>.json; where there is none it dies of SIGBUS.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *const node = getenv("SLURMD_NODENAME"), *const threads =
								    getenv("OMP_NUM_THREADS");
	const char *const program = strrchr(argv[0], '/') + 1;
	const int is_one = threads && strcmp(threads, "1") == 0 && strcmp(program, "stream") == 0;
	char path[4096];
	FILE *in, *out;
	int c;

	snprintf(path, sizeof(path), "%s/%s-%s.json", MADE_UP, node, is_one ? "one" : program);
	in = fopen(path, "r");
	if (!in)
		return raise(SIGBUS);
	if (getenv("SLURM_STEP_NUM_TASKS"))
		return 0;                 /* a rank has a file of its own */
	out = fopen(argv[argc - 1], "w"); /* --json FILE is last */
	if (!out)
		return 2;
	while ((c = getc(in)) != EOF)
		putc(c, out);
	return fclose(out) != 0;
}
