/* A library before others: the monotonic clock runs SLOWER; with EVERY that of the CPU time, too.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	const long status = syscall(SYS_clock_gettime, clock, t);
	long long ns = t->tv_sec * 1000000000LL + t->tv_nsec;
	if (clock == CLOCK_MONOTONIC_RAW || EVERY)
		ns /= SLOWER;
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return (int)status;
}
