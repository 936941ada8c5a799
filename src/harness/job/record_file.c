#include "record_file.h"

#include "../error.h"
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *record_file_own, *record_file_all;
static const char *record_file_path;
static char record_file_own_path[PATH_MAX], record_file_unfinished[PATH_MAX + 32],
	record_file_gathered[PATH_MAX];

static int record_file_is_of_job;

void record_file_of_job(int one)
{
	record_file_is_of_job = one;
}

static int record_file_is_alone(void)
{
	return record_file_is_of_job || ranks_count() == 1;
}

static void record_file_drop_unfinished(void)
{
	if (*record_file_unfinished && record_file_own)
		unlink(record_file_unfinished);
}

static void record_file_refuse(const char *name)
{
	die("cannot write '%s': %s",
	    errno == EMFILE ? "raise 'ulimit -n'"
			    : "give '--json' a file in a folder that exists and may be written",
	    name, strerror(errno));
}

static FILE *record_file_open_or_die(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file)
		record_file_refuse(name);
	return file;
}

/* A device or a pipe is written as it is, a file replaced when the record is complete: what
 * stood there stays until then.  Through a link, its target is. */
static void record_file_open_own(void)
{
	struct stat there;
	char *target = NULL;
	int there_already;

	if (stat(record_file_path, &there) == 0 && !S_ISREG(there.st_mode)) {
		record_file_own = record_file_open_or_die(record_file_path);
		return;
	}
	target = realpath(record_file_path, NULL);
	snprintf(record_file_own_path, sizeof(record_file_own_path), "%s",
		 target ? target : record_file_path);
	free(target);
	there_already = open(record_file_own_path, O_WRONLY | O_CLOEXEC);
	if (there_already < 0 && errno != ENOENT)
		record_file_refuse(record_file_own_path);
	if (there_already >= 0)
		close(there_already);
	snprintf(record_file_unfinished, sizeof(record_file_unfinished), "%s.unfinished-%ld",
		 record_file_own_path, (long)getpid());
	record_file_own = fopen(record_file_unfinished, "wx");
	if (!record_file_own)
		record_file_refuse(record_file_path);
	/* that it can be written is known now; a process that is killed before there is anything
	 * to write leaves nothing behind */
	fclose(record_file_own);
	record_file_own = NULL;
	unlink(record_file_unfinished);
	atexit(record_file_drop_unfinished);
}

/* For whoever launched it: from here on an exit status is the end of a measurement, no refusal of
 * a tool in front of the program. */
static void record_file_note_start(void)
{
	const char *const name = getenv("MEMBW_LEDGER");
	FILE *const ledger = name ? fopen(name, "a") : NULL;

	if (!ledger)
		return;
	fprintf(ledger, "started %s %s\n", record_file_path, ranks_node());
	fclose(ledger);
}

void record_file_open(const char *requested)
{
	struct stat there;

	record_file_path = record_file_is_of_job && ranks_me() > 0 ? NULL : requested;
	if (!record_file_path)
		return;
	record_file_note_start();
	signal(SIGPIPE, SIG_IGN); /* a record may outlive the reader of the table */
	if (record_file_is_alone()) {
		record_file_open_own();
		return;
	}
	if (lstat(record_file_path, &there) == 0 && !S_ISREG(there.st_mode))
		die("'--json %s' is not a file, but each of %d processes writes one next to it",
		    "give a file in a folder that exists and may be written", record_file_path,
		    ranks_count());
	snprintf(record_file_own_path, sizeof(record_file_own_path), "%s.rank-%d",
		 record_file_path, ranks_me());
	snprintf(record_file_unfinished, sizeof(record_file_unfinished), "%s.unfinished-%d",
		 record_file_path, ranks_me());
	snprintf(record_file_gathered, sizeof(record_file_gathered), "%s.unfinished-all",
		 record_file_path);
	record_file_own = record_file_open_or_die(record_file_unfinished);
	unlink(record_file_own_path);
	if (!ranks_me())
		unlink(record_file_path);
}

static int record_file_complain(const char *about)
{
	fprintf(stderr, "membw: the record in '%s' is not complete: %s\nhint: %s\n", about,
		strerror(errno), errno == EPIPE ? "the reader has ended" : "is the disk full?");
	return 0;
}

static int record_file_write_through(const char *line, size_t size)
{
	return (fwrite(line, 1, size, record_file_own) == size && fflush(record_file_own) == 0) ||
	       record_file_complain(record_file_path);
}

static void record_file_sync_folder(const char *path)
{
	char name[PATH_MAX];
	int folder;

	snprintf(name, sizeof(name), "%s", path);
	folder = open(dirname(name), O_RDONLY | O_CLOEXEC);
	if (folder < 0)
		return;
	fsync(folder);
	close(folder);
}

/* The name is given when the blocks are on the disk: a power cut leaves the old file or the new.
 * Some file systems know no fsync. */
static int record_file_finish(FILE *file, const char *unfinished, const char *path)
{
	int is_whole = fflush(file) == 0;

	if (is_whole && fsync(fileno(file)) != 0)
		is_whole = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
	is_whole = fclose(file) == 0 && is_whole && rename(unfinished, path) == 0;
	if (is_whole)
		record_file_sync_folder(path);
	return is_whole;
}

int record_file_put(const char *line, size_t size)
{
	int is_whole;

	if (!record_file_path)
		return 1;
	if (record_file_is_alone() && !*record_file_unfinished)
		return record_file_write_through(line, size);
	if (!record_file_own)
		record_file_own = fopen(record_file_unfinished, "w");
	is_whole =
		record_file_own && fwrite(line, 1, size, record_file_own) == size &&
		record_file_finish(record_file_own, record_file_unfinished, record_file_own_path);
	record_file_own = NULL;
	if (is_whole)
		return 1;
	record_file_complain(record_file_own_path);
	unlink(record_file_unfinished);
	return 0;
}

int record_file_gather(const char *line, size_t size)
{
	if (!record_file_all)
		record_file_all = fopen(record_file_gathered, "w");
	return (record_file_all && fwrite(line, 1, size, record_file_all) == size) ||
	       record_file_complain(record_file_path);
}

int record_file_publish(void)
{
	return (record_file_all &&
		record_file_finish(record_file_all, record_file_gathered, record_file_path)) ||
	       record_file_complain(record_file_path);
}

void record_file_drop(void)
{
	unlink(record_file_own_path);
}
