"""Facts of this machine that `membw bench` needs: its cores, its flags, its caches."""

import os
import pathlib

CPUS = pathlib.Path('/sys/devices/system/cpu')


def cores():
    """One CPU of each core that this process may use: the lowest, as pinning to cores takes."""
    firsts = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        firsts.setdefault(siblings(cpu), cpu)
    return sorted(firsts.values())


def siblings(cpu):
    try:
        return (CPUS / f'cpu{cpu}' / 'topology' / 'thread_siblings_list').read_text()
    except OSError:
        return str(cpu)


def flags():
    """What the CPU can do, in the kernel's words; an empty set where it does not say."""
    for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith(('flags', 'Features')):
            return set(line.partition(':')[2].split())
    return set()
