/*
 * Preloaded into the programs of a run: ends chosen starts of a program by a signal.
 *
 * KILL        'stream=2:7 overheads=1:11+': the second start of stream by signal 7, the first of
 *             overheads by 11 at its exit, after its record was written (+); only starts with
 *             --json on their command line count
 * KILL_COUNT  a folder: a file for each program counts its starts
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has_record(int count, char **words)
{
	for (int i = 1; i < count; i++)
		if (!strcmp(words[i], "--json"))
			return 1;
	return 0;
}

/* A byte per start: its place is the number of this one. */
static long number_of_start(const char *program)
{
	char path[4096];
	int file;
	long number = -1;

	snprintf(path, sizeof(path), "%s/%s", getenv("KILL_COUNT"), program);
	file = open(path, O_CREAT | O_APPEND | O_WRONLY, 0600);
	if (file >= 0 && write(file, ".", 1) == 1)
		number = lseek(file, 0, SEEK_CUR);
	close(file);
	return number;
}

static int number_of_signal;

static void end(void)
{
	signal(number_of_signal, SIG_DFL);
	raise(number_of_signal);
}

__attribute__((constructor)) static void choose(int count, char **words)
{
	const char *program = program_invocation_short_name;
	const size_t length = strlen(program);
	char *list = getenv("KILL"), *word;
	long start;

	if (!list || !strstr(list, program) || !has_record(count, words))
		return;
	start = number_of_start(program);
	list = strdup(list);
	while ((word = strsep(&list, " "))) {
		char *rest = word + length + 1;

		if (strncmp(word, program, length) || word[length] != '=' ||
		    strtol(rest, &rest, 10) != start)
			continue;
		number_of_signal = (int)strtol(rest + 1, &rest, 10);
		if (*rest == '+')
			atexit(end);
		else
			end();
	}
}
