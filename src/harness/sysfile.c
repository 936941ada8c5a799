#include "sysfile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For tests: -DMEMBW_SYS_ROOT="FOLDER" reads a recorded machine's /sys there,
 * and such files of /proc as were recorded. */
#ifdef MEMBW_SYS_ROOT
static void read_root(char path[SYSLINE_MAX])
{
	char there[SYSLINE_MAX];

	if (snprintf(there, sizeof(there), "%s%s", MEMBW_SYS_ROOT, path) >= SYSLINE_MAX)
		return;
	if (strncmp(path, "/sys/", 5) == 0 || access(there, R_OK) == 0)
		strcpy(path, there);
}
#endif

FILE *sysfile_open(const char *path)
{
#ifdef MEMBW_SYS_ROOT
	char where[SYSLINE_MAX];

	snprintf(where, sizeof(where), "%s", path);
	read_root(where);
	return fopen(where, "r");
#else
	return fopen(path, "r");
#endif
}

int sysfile_line(char line[SYSLINE_MAX], const char *format, ...)
{
	char path[SYSLINE_MAX];
	va_list rest;
	FILE *file;
	int found;

	va_start(rest, format);
	vsnprintf(path, sizeof(path), format, rest);
	va_end(rest);
	line[0] = '\0';
	file = sysfile_open(path);
	if (!file)
		return 0;
	found = fgets(line, SYSLINE_MAX, file) != NULL;
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return found;
}

int sysfile_field(char value[SYSLINE_MAX], const char *path, const char *key)
{
	const size_t length = strlen(key);
	char line[SYSLINE_MAX];
	FILE *file = sysfile_open(path);
	int found = 0;

	value[0] = '\0';
	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file)) {
		const char *rest = line + length;

		if (strncmp(line, key, length) != 0 || !strchr(" \t:", *rest))
			continue;
		rest += strspn(rest, " \t:");
		strcpy(value, rest);
		value[strcspn(value, "\n")] = '\0';
		found = 1;
	}
	fclose(file);
	return found;
}

size_t sysfile_bytes(unsigned char *bytes, size_t most, const char *path)
{
	FILE *file = sysfile_open(path);
	size_t length;

	if (!file)
		return 0;
	length = fread(bytes, 1, most, file);
	fclose(file);
	return length;
}
