#include "record_file.h"

#include "../error.h"
#include "ranks.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *file;
static const char *path;

static void remove_all(const char *ending)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s%s", path, ending);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

void record_file_open(const char *path_asked)
{
	path = path_asked;
	if (!path || ranks_me() > 0)
		return;
	file = fopen(path, "w");
	if (!file)
		die("cannot write '%s': %s",
		    "give '--json' a file in a folder that exists and may be written", path,
		    strerror(errno));
	if (ranks_count() > 1) {
		remove_all(".rank-*");
		remove_all(".unfinished-*");
	}
}

static int complain(const char *about)
{
	fprintf(stderr, "membw: the record in '%s' is not complete: %s\nhint: is there space?\n",
		about, strerror(errno));
	return 0;
}

int record_file_put(const char *line, size_t size)
{
	if (!path || (fwrite(line, 1, size, file) == size && fflush(file) == 0))
		return 1;
	return complain(path);
}

void record_file_restart(void)
{
	if (!path)
		return;
	rewind(file);
	if (ftruncate(fileno(file), 0) != 0)
		complain(path);
}

int record_file_rescue(const char *line, size_t size)
{
	char whole[PATH_MAX], unfinished[PATH_MAX];
	int failed = 1;
	FILE *out;

	snprintf(whole, sizeof(whole), "%s.rank-%d", path, ranks_me());
	/* a name that no reader of the others takes: what writes it may be killed */
	snprintf(unfinished, sizeof(unfinished), "%s.unfinished-%d", path, ranks_me());
	out = fopen(unfinished, "w");
	if (out) {
		failed = fwrite(line, 1, size, out) != size;
		failed |= fclose(out) != 0;
		failed |= rename(unfinished, whole) != 0;
	}
	return failed ? complain(whole) : 1;
}

void record_file_unrescue(void)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s.rank-%d", path, ranks_me());
	unlink(whole);
}
