#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ask_again(const char *hint, const char *fact, ...)
{
	va_list rest;

	fflush(stdout);
	fputs("membw: ", stderr);
	va_start(rest, fact);
	vfprintf(stderr, fact, rest);
	va_end(rest);
	fprintf(stderr, "\nhint: %s\n", hint);
	exit(EXIT_ASKED_WRONGLY);
}
