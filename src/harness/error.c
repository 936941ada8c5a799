#include "error.h"

#include "streams.h"

#include <stdarg.h>

static void (*refuse_hook)(const char *fact, const char *hint);
static void (*end_hook)(int status);

void error_hooks(void (*refuse)(const char *fact, const char *hint), void (*end)(int status))
{
	refuse_hook = refuse;
	end_hook = end;
}

void leave(int status)
{
	if (status == EXIT_VALID && !streams_took_all())
		status = EXIT_INVALID;
	if (end_hook)
		end_hook(status);
	exit(status);
}

void die(const char *fact, const char *hint, ...)
{
	char text[1024];
	va_list rest;

	va_start(rest, hint);
	vsnprintf(text, sizeof(text), fact, rest);
	va_end(rest);
	if (refuse_hook)
		refuse_hook(text, hint);
	fflush(stdout);
	fprintf(stderr, "membw: %s\nhint: %s\n", text, hint);
	leave(EXIT_USAGE);
}
