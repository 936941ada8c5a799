#include "record_file.h"

#include "../error.h"
#include "../named_file.h"
#include "ranks.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *own_file, *all_file;
static const char *path;
static char own_path[PATH_MAX], unfinished[PATH_MAX + 32], gathered[PATH_MAX];

static int of_job;

void record_file_of_job(int one)
{
	of_job = one;
}

static int is_alone(void)
{
	return of_job || ranks_count() == 1;
}

/* Of ranks that there are not this time; the others write theirs anew. */
static void remove_of_more_ranks(const char *ending)
{
	char pattern[PATH_MAX];
	glob_t list;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s%s*", path, ending);
	if (glob(pattern, GLOB_NOSORT, NULL, &list) != 0)
		return;
	for (i = 0; i < list.gl_pathc; i++)
		if (atoi(list.gl_pathv[i] + strlen(pattern) - 1) >= ranks_count())
			unlink(list.gl_pathv[i]);
	globfree(&list);
}

static void drop_unfinished(void)
{
	if (*unfinished && own_file)
		unlink(unfinished);
}

static const char JSON_HINT[] = "give '--json' a file in a folder that exists and may be written";

static FILE *open_or_die(const char *name)
{
	FILE *file = named_file_open(name, "w", JSON_HINT);

	if (!file)
		die("cannot write '%s': %s", JSON_HINT, name, strerror(errno));
	return file;
}

/* A device or a pipe is written as it is, a file replaced when the record is complete: what
 * stood there stays until then.  Through a link, its target is. */
static void open_own(void)
{
	struct stat there;
	char *target = NULL;

	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
		own_file = open_or_die(path);
		return;
	}
	target = realpath(path, NULL);
	snprintf(own_path, sizeof(own_path), "%s", target ? target : path);
	free(target);
	if (access(own_path, F_OK) == 0 && access(own_path, W_OK) != 0)
		open_or_die(own_path);
	snprintf(unfinished, sizeof(unfinished), "%s.unfinished-%ld", own_path, (long)getpid());
	own_file = fopen(unfinished, "wx");
	if (!own_file)
		die("cannot write '%s': %s", JSON_HINT, path, strerror(errno));
	/* that it can be written is known now; a process that is killed before there is anything
	 * to write leaves nothing behind */
	fclose(own_file);
	own_file = NULL;
	unlink(unfinished);
	atexit(drop_unfinished);
}

void record_file_open(const char *path_asked)
{
	struct stat there;

	path = of_job && ranks_me() > 0 ? NULL : path_asked;
	if (!path)
		return;
	if (is_alone()) {
		open_own();
		return;
	}
	if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
		die("'--json %s' is not a file, and each of %d processes needs one beside it",
		    "give a file in a folder that exists and may be written", path, ranks_count());
	snprintf(own_path, sizeof(own_path), "%s.rank-%d", path, ranks_me());
	snprintf(unfinished, sizeof(unfinished), "%s.unfinished-%d", path, ranks_me());
	snprintf(gathered, sizeof(gathered), "%s.unfinished-all", path);
	own_file = open_or_die(unfinished);
	unlink(own_path);
	if (ranks_me() > 0)
		return;
	unlink(path);
	remove_of_more_ranks(".rank-");
	remove_of_more_ranks(".unfinished-");
}

static int complain(const char *about)
{
	fprintf(stderr, "membw: the record in '%s' is not complete: %s\nhint: %s\n", about,
		strerror(errno), errno == EPIPE ? "who read it has gone" : "is there space?");
	return 0;
}

/* A pipe whose reader has gone would end the program before its table is printed. */
static int write_through(const char *line, size_t size)
{
	void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
	const int written = fwrite(line, 1, size, own_file) == size && fflush(own_file) == 0;

	signal(SIGPIPE, before);
	return written || complain(path);
}

int record_file_put(const char *line, size_t size)
{
	int failed;

	if (!path)
		return 1;
	if (is_alone() && !*unfinished)
		return write_through(line, size);
	if (!own_file)
		own_file = fopen(unfinished, "w");
	failed = !own_file || fwrite(line, 1, size, own_file) != size;
	failed |= own_file && fclose(own_file) != 0;
	own_file = NULL;
	failed = failed || rename(unfinished, own_path) != 0;
	return failed ? complain(own_path) : 1;
}

int record_file_gather(const char *line, size_t size)
{
	if (!all_file)
		all_file = fopen(gathered, "w");
	return (all_file && fwrite(line, 1, size, all_file) == size) || complain(path);
}

int record_file_publish(void)
{
	const int closed = all_file && fclose(all_file) == 0;

	return (closed && rename(gathered, path) == 0) || complain(path);
}

void record_file_drop(void)
{
	unlink(own_path);
}
