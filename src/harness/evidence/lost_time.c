#include "lost_time.h"

#include "../clock.h"
#include "../openmp.h"
#include "../sysfile.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static int lost_time_is_counted = 1; /* of every thread */

/* "RUNNING READY SLICES", ns; -1 where the kernel does not count. */
static double lost_time_ready_seconds(int file)
{
	unsigned long long running = 0, ready = 0;
	char text[128];
	const ssize_t size = file < 0 ? 0 : pread(file, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return -1;
	text[size] = '\0';
	return sscanf(text, "%llu %llu", &running, &ready) == 2 ? 1e-9 * (double)ready : -1;
}

void lost_time_start(struct lost_time *l)
{
	l->file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (l->file >= 0 && !sysfile_may_keep(l->file)) {
		close(l->file);
		l->file = -1;
	}
	if (lost_time_ready_seconds(l->file) < 0) {
#pragma omp atomic write
		lost_time_is_counted = 0;
	}
	lost_time_note(l);
	l->lost = 0;
}

void lost_time_note(struct lost_time *l)
{
	const double cpu = clock_thread(), wall = clock_now();
	const double ready = lost_time_ready_seconds(l->file);
	const double not_run = (wall - l->wall) - (cpu - l->cpu);
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		memset(&usage, 0, sizeof(usage));
	if (usage.ru_majflt > l->faults)
		l->lost = wall - l->wall;
	else if (ready >= 0)
		l->lost = ready - l->ready;
	else
		l->lost = usage.ru_nivcsw > l->switches && not_run > 0 ? not_run : 0;
	l->wall = wall;
	l->cpu = cpu;
	l->ready = ready;
	l->switches = usage.ru_nivcsw;
	l->faults = usage.ru_majflt;
}

long lost_time_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

const char *lost_time_basis(void)
{
	return lost_time_is_counted ? "schedstat" : "switches";
}
