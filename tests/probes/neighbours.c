/* Who took the CPU: a child of another process computes before, and ends while it is measured. */
#include "harness/harness.c"

#include <sys/wait.h>

static void compute(double seconds)
{
	const double end = clock_process() + seconds;

	while (clock_process() < end)
		;
}

/* A process whose child has computed so long, and ends when the pipe is closed. */
static int parent(double before, double meanwhile, int ready, int go, int done)
{
	char byte;

	if (fork() == 0) {
		compute(before);
		if (write(ready, "x", 1) < 1 || read(go, &byte, 1) < 1)
			_exit(1);
		compute(meanwhile);
		_exit(0);
	}
	wait(NULL);
	if (write(done, "x", 1) < 1)
		return 1;
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	int ready[2], go[2], done[2];
	char byte;
	pid_t child;

	if (argc < 3 || pipe(ready) || pipe(go) || pipe(done))
		return 1;
	child = fork();
	if (child == 0)
		_exit(parent(atof(argv[1]), atof(argv[2]), ready[1], go[0], done[1]));
	if (read(ready[0], &byte, 1) < 1)
		return 1;
	neighbours_start();
	if (write(go[1], "x", 1) < 1 || read(done[0], &byte, 1) < 1)
		return 1;
	neighbours_stop(1);
	printf("%d%s\n", (int)child, neighbours_text());
	kill(child, SIGKILL);
	return 0;
}
