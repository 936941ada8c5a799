/* A library before others: whoever asks is told that pages came back from swap meanwhile. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
int getrusage(__rusage_who_t who, struct rusage *usage)
{
	static _Atomic long faults;
	const long status = syscall(SYS_getrusage, who, usage);
	usage->ru_majflt = who == RUSAGE_SELF ? 100 * ++faults : ++faults;
	return (int)status;
}
