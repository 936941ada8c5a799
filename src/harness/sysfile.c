#include "sysfile.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>

enum { SYSFILE_RESERVE = 32 };

static FILE *sysfile_try(const char *path)
{
	return fopen(path, "r");
}

/* Without them a machine would have other domains and cores than it has. */
static int sysfile_is_vital(const char *path)
{
	return strstr(path, "/sys/devices/system/node") || strstr(path, "/topology/");
}

static void sysfile_not_read(const char *path)
{
	const int error = errno;
	const char *hint = NULL;

	if (error == EMFILE)
		hint = "raise 'ulimit -n'";
	else if (error == ENFILE || error == ENOMEM)
		hint = "free some";
	else if (error && error != ENOENT && error != ENOTDIR && sysfile_is_vital(path))
		hint = "it says where CPUs and memory lie: let this user read it";
	if (hint)
		die("cannot read '%s': %s", hint, path, strerror(error));
}

FILE *sysfile_open(const char *path)
{
	FILE *file = sysfile_try(path);

	if (!file)
		sysfile_not_read(path);
	return file;
}

DIR *sysfile_folder(const char *path)
{
	DIR *folder = opendir(path);

	if (!folder)
		sysfile_not_read(path);
	return folder;
}

int sysfile_descriptor(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		sysfile_not_read(path);
	return file;
}

void sysfile_raise_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int sysfile_may_keep(int file)
{
	struct rlimit files;

	return file >= 0 && (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
			     (rlim_t)file + SYSFILE_RESERVE < files.rlim_cur);
}

int sysfile_next(FILE *file, char *line, size_t size)
{
	if (file && fgets(line, (int)size, file))
		return 1;
	if (file)
		fclose(file);
	return 0;
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
	errno = 0;
	is_read = fgets(line, SYSLINE_MAX, file) != NULL;
	if (!is_read && ferror(file))
		sysfile_not_read(path);
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
	if (ferror(file))
		sysfile_not_read(path);
	fclose(file);
	return is_there;
}

size_t sysfile_number(const char *path, const char *key)
{
	char value[SYSLINE_MAX];

	return sysfile_field(value, path, key) ? (size_t)strtoull(value, NULL, 10) : 0;
}

size_t sysfile_kib(const char *path, const char *key)
{
	return sysfile_number(path, key) << 10;
}

size_t sysfile_bytes(void *bytes, size_t most, const char *path)
{
	FILE *file = sysfile_open(path);
	size_t length;

	if (!file)
		return 0;
	length = fread(bytes, 1, most, file);
	fclose(file);
	return length;
}
