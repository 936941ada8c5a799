#include "sysfile.h"

#include <stdarg.h>

FILE *sysfile_open(const char *path)
{
	return fopen(path, "r");
}

int sysfile_line(char line[SYSLINE_MAX], const char *format, ...)
{
	char path[SYSLINE_MAX];
	va_list rest;
	FILE *file;
	int is_read;

	va_start(rest, format);
	vsnprintf(path, sizeof(path), format, rest);
	va_end(rest);
	line[0] = '\0';
	file = sysfile_open(path);
	if (!file)
		return 0;
	is_read = fgets(line, SYSLINE_MAX, file) != NULL;
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return is_read;
}

int sysfile_field(char value[SYSLINE_MAX], const char *path, const char *key)
{
	const size_t length = strlen(key);
	char line[SYSLINE_MAX];
	FILE *file = sysfile_open(path);
	int is_there = 0;

	value[0] = '\0';
	if (!file)
		return 0;
	while (!is_there && fgets(line, sizeof(line), file)) {
		const char *rest = line + length;

		if (strncmp(line, key, length) != 0 || !strchr(" \t:", *rest))
			continue;
		rest += strspn(rest, " \t:");
		strcpy(value, rest);
		value[strcspn(value, "\n")] = '\0';
		is_there = 1;
	}
	fclose(file);
	return is_there;
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
