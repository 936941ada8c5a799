#include "streams.h"

#include <fcntl.h>
#include <unistd.h>

void streams_fill_closed(void)
{
	int stream;

	for (stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return;
}

int streams_took_all(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 1;
	fprintf(stderr, "membw: the output is not complete\n"
			"hint: is the disk full?\n");
	return 0;
}
