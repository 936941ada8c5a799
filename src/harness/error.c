#include "error.h"

#include "streams.h"

#include <stdarg.h>

static void (*error_refuse_hook)(const char *fact, const char *hint);
static void (*error_end_hook)(int status);

void error_hooks(void (*refuse)(const char *fact, const char *hint), void (*end)(int status))
{
	error_refuse_hook = refuse;
	error_end_hook = end;
}

void leave(int status)
{
	if (status == EXIT_VALID && !streams_took_all())
		status = EXIT_INVALID;
	if (error_end_hook)
		error_end_hook(status);
	exit(status);
}

void die(const char *fact, const char *hint, ...)
{
	char text[1024];
	va_list rest;

	va_start(rest, hint);
	vsnprintf(text, sizeof(text), fact, rest);
	va_end(rest);
	if (error_refuse_hook)
		error_refuse_hook(text, hint);
	fflush(stdout);
	fprintf(stderr, "membw: %s\nhint: %s\n", text, hint);
	leave(EXIT_USAGE);
}
