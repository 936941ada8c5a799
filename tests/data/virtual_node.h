/*
 * virtual_node: several nodes of a test are one host, so each takes the CPUs of the others.  Here
 * the kernel says nothing of that (no schedstat, no switches, /proc/stat stands still), as where a
 * container shows itself alone: figures are estimates, and the judgement of nodes can be tested.
 *
 * Planted by -include, before slow.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static int virtual_open(const char *path, int flags, ...)
{
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = va_arg(rest, int);
	va_end(rest);
	return strstr(path, "schedstat") ? -1 : open(path, flags, mode);
}

static FILE *virtual_fopen(const char *path, const char *mode)
{
	static char seen[1 << 16];
	FILE *const stat = strcmp(path, "/proc/stat") == 0 ? fopen(path, mode) : NULL;

	if (!stat)
		return fopen(path, mode);
	if (!seen[0])
		(void)!fread(seen, 1, sizeof(seen) - 1, stat);
	fclose(stat);
	return fmemopen(seen, strlen(seen), "r");
}

static int virtual_getrusage(int who, struct rusage *usage)
{
	const int status = getrusage(who, usage);

	usage->ru_nivcsw = usage->ru_majflt = 0;
	return status;
}

#define open(...) virtual_open(__VA_ARGS__)
#define fopen(path, mode) virtual_fopen(path, mode)
#define getrusage(who, usage) virtual_getrusage(who, usage)
