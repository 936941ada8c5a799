#include "sysfile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* For tests: -DMEMBW_SYS_ROOT="FOLDER" reads a recorded machine's /sys there. */
static void read_root(char path[SYSLINE_MAX])
{
#ifdef MEMBW_SYS_ROOT
	const size_t root = strlen(MEMBW_SYS_ROOT), length = strlen(path);

	if (strncmp(path, "/sys/", 5) == 0 && root + length < SYSLINE_MAX) {
		memmove(path + root, path, length + 1);
		memcpy(path, MEMBW_SYS_ROOT, root);
	}
#else
	(void)path;
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
	read_root(path);
	line[0] = '\0';
	file = fopen(path, "r");
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
	FILE *file = fopen(path, "r");
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
	char where[SYSLINE_MAX];
	FILE *file;
	size_t length;

	snprintf(where, sizeof(where), "%s", path);
	read_root(where);
	file = fopen(where, "rb");
	if (!file)
		return 0;
	length = fread(bytes, 1, most, file);
	fclose(file);
	return length;
}
