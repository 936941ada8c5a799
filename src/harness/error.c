#include "error.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

static void (*error_refuse_hook)(const char *fact, const char *hint);
static void (*error_end_hook)(int status);

void error_hooks(void (*refuse)(const char *fact, const char *hint), void (*end)(int status))
{
	error_refuse_hook = refuse;
	error_end_hook = end;
}

/* Not a full disk. */
static int error_stdout_took_all(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 1;
	fprintf(stderr, "membw: the output is not complete\n"
			"hint: is the disk full, or its reader gone?\n");
	return 0;
}

void leave(int status)
{
	if (status == EXIT_VALID && !error_stdout_took_all())
		status = EXIT_INVALID;
	if (error_end_hook)
		error_end_hook(status);
	exit(status);
}

void die(const char *fact, const char *hint, ...)
{
	char text[1024], *at;
	va_list rest;

	va_start(rest, hint);
	vsnprintf(text, sizeof(text), fact, rest);
	va_end(rest);
	for (at = text; *at; at++) /* a name may move the cursor, or forge a line */
		if (iscntrl((unsigned char)*at))
			*at = '?';
	if (error_refuse_hook)
		error_refuse_hook(text, hint);
	fflush(stdout);
	fprintf(stderr, "membw: %s\nhint: %s\n", text, hint);
	leave(EXIT_USAGE);
}

void *room_for(size_t count, size_t size, const char *what, const char *hint)
{
	void *room = calloc(count, size);

	if (!room)
		die("no memory for %zu %s", hint, count, what);
	return room;
}

void streams_fill_closed(void)
{
	int stream;

	for (stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return;
}
