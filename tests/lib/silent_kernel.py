"""A kernel that says something else: not on which CPU a thread runs, nothing in /proc; that pages
came back from swap."""

import subprocess

import pytest

SOURCE = 'int sched_getcpu(void)\n{\n\treturn -1;\n}\n'


def no_cpu(folder):
    """{LD_PRELOAD: ...}: sched_getcpu() fails."""
    return preloaded(folder, 'no_cpu', SOURCE)


SWAPS = """#define _GNU_SOURCE
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
"""


def that_swaps(folder):
    """{LD_PRELOAD: ...}: whoever asks is told that pages came back meanwhile."""
    return preloaded(folder, 'swaps', SWAPS)


SLOW_CLOCK = """#define _GNU_SOURCE
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
"""


def with_a_slow_clock(folder, slower=8, every=0):
    """{LD_PRELOAD: ...}: the monotonic clock runs at an eighth of its speed; `every`: that of the
    CPU time, too."""
    return preloaded(folder, 'slow_clock', SLOW_CLOCK, f'-DSLOWER={slower}', f'-DEVERY={every}')


def preloaded(folder, name, text, *words):
    source, library = folder / f'{name}.c', folder / f'{name}.so'
    source.write_text(text)
    subprocess.run(['gcc', '-shared', '-fPIC', *words, source, '-o', library], check=True)
    return {'LD_PRELOAD': str(library)}


def without_load(folder, text='cpu 1 0 1 1 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0\n'):
    """The words in front of a command for which the CPUs of /proc/stat never change."""
    (folder / 'stat').write_text(text)
    return mounted(f'--bind {folder}/stat /proc/stat')


def without_proc():
    """The words in front of a command that finds /proc empty."""
    return mounted('-t tmpfs none /proc')


def mounted(what):
    words = ['unshare', '-m', 'sh', '-c', f'mount {what} && exec "$@"', 'sh']
    if subprocess.run([*words, 'true'], capture_output=True).returncode:
        pytest.skip('unshare -m: not permitted here')
    return words
