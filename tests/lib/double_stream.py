"""TEST DOUBLE of stream: a gcc that makes it of any program; it leaves a made-up record of each
node."""

import json
import shlex
import shutil

import made_up_records as made

# its record lies ready for each node, but for the time; where there is none it dies
DOUBLE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	char path[4096], text[1 << 16], day[32], now[48];
	struct timespec t;
	FILE *in, *out = fopen(argv[argc - 1], "a"); /* --json FILE is last */
	snprintf(path, sizeof(path), MADE_UP "/%s", getenv("SLURMD_NODENAME"));
	in = fopen(path, "r");
	if (!in || !out)
		return raise(SIGBUS);
	text[fread(text, 1, sizeof(text) - 1, in)] = 0;
	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime(&t.tv_sec));
	snprintf(now, sizeof(now), "%s.%06ldZ", day, t.tv_nsec / 1000);
	setvbuf(out, NULL, _IOFBF, sizeof(text)); /* a line in one go: all nodes have this file */
	fprintf(out, text, now);
	fputc('\n', out);
	return fclose(out) != 0;
}
"""
GCC = """#!/bin/sh
case " $* " in *.c\\ *) ;; *) exec {gcc} "$@" ;; esac
while [ $# != 0 ] && [ "$1" != -o ]; do shift; done
exec {gcc} {words} -o "$2"
"""


def put_up(folder):
    """`folder`/gcc."""
    (folder / 'double.c').write_text(DOUBLE)
    words = shlex.join([str(folder / 'double.c'), f'-DMADE_UP="{folder}"'])
    (folder / 'gcc').write_text(GCC.format(gcc=shutil.which('gcc'), words=words))
    (folder / 'gcc').chmod(0o755)


def plant(folder, name, share=1.0):
    """The rates of a node, as a share of a healthy one's."""
    text = json.dumps(made.record(name, rows=made.stream(share=share), case=False, time='%s'))
    (folder / name).write_text(text)
