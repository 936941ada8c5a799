#include "error.h"

#include "job/ranks.h"

#include <stdarg.h>
#include <stdio.h>

void ask_again(const char *hint, const char *fact, ...)
{
	char text[1024];
	va_list rest;

	va_start(rest, fact);
	vsnprintf(text, sizeof(text), fact, rest);
	va_end(rest);
	ranks_refuse(text, hint);
	fflush(stdout);
	fprintf(stderr, "membw: %s\nhint: %s\n", text, hint);
	ranks_leave(EXIT_ASKED_WRONGLY);
}
