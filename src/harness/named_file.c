#include "named_file.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_WAIT_S = 10, LOOKS_PER_S = 20 }; /* as long as membw itself waits */

/* Nobody is there to read until one has opened it; -1 with ENXIO after all. */
static int named_file_pipe_to_write(const char *path)
{
	int looks, file = -1;

	for (looks = 0; file < 0 && looks < PIPE_WAIT_S * LOOKS_PER_S; looks++) {
		if (looks)
			poll(NULL, 0, 1000 / LOOKS_PER_S);
		file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (file < 0 && errno != ENXIO && errno != EINTR)
			break;
	}
	return file;
}

/* *FIRST: a byte that came while it was asked whether anybody writes; -1 for none. */
static int named_file_pipe_to_read(const char *path, int *first)
{
	struct pollfd coming = { .events = POLLIN };
	unsigned char byte;
	ssize_t got;

	*first = -1;
	coming.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (coming.fd < 0 || poll(&coming, 1, 1000 * PIPE_WAIT_S) > 0)
		return coming.fd;
	got = read(coming.fd, &byte, 1);
	if (got == 1)
		*first = byte;
	if (got == 1 || (got < 0 && errno == EAGAIN)) /* somebody who takes long */
		return coming.fd;
	close(coming.fd);
	errno = ENXIO;
	return -1;
}

static FILE *named_file_pipe_open(const char *path, const char *mode, const char *hint)
{
	const int reads = *mode == 'r';
	int first = -1;
	const int end =
		reads ? named_file_pipe_to_read(path, &first) : named_file_pipe_to_write(path);
	FILE *file;

	if (end < 0 && errno == ENXIO)
		die("nobody %s the pipe '%s': waited %d s", hint, reads ? "writes to" : "reads",
		    path, PIPE_WAIT_S);
	if (end < 0 || fcntl(end, F_SETFL, 0) < 0)
		return NULL;
	file = fdopen(end, mode);
	if (file && first >= 0)
		ungetc(first, file);
	return file;
}

FILE *named_file_open(const char *path, const char *mode, const char *hint)
{
	struct stat there;

	if (stat(path, &there) == 0 && S_ISFIFO(there.st_mode))
		return named_file_pipe_open(path, mode, hint);
	return fopen(path, mode);
}
