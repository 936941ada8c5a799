"""The CPUs of a node: read off this machine, or taken from a partition's processor facts."""

import os
import pathlib

import pinnings

CPUS = pathlib.Path('/sys/devices/system/cpu')
NODES = pathlib.Path('/sys/devices/system/node')


def one_per_core(allowed, folder=CPUS):
    """The first allowed hardware thread of each core."""
    cpus, seen = [], set()
    for cpu in sorted(allowed):
        try:
            text = (folder / f'cpu{cpu}' / 'topology' / 'thread_siblings_list').read_text()
        except OSError:
            text = str(cpu)
        if cpu not in seen:
            cpus.append(cpu)
            seen.update(pinnings.expand(text.strip()))
    return cpus


def is_local(partition):
    return partition.scheduler.registered_name == 'local'


def cores(partition):
    """One CPU number a core; elsewhere than here: 0.. as Linux counts the first threads."""
    if is_local(partition):
        return one_per_core(os.sched_getaffinity(0))
    processor = partition.processor
    count = processor.num_cpus // (processor.num_cpus_per_core or 1)
    return list(range(partition.extras.get('threads', count)))


def domain_cpus(number, folder=NODES):
    """Every CPU of one NUMA domain of this machine."""
    try:
        return pinnings.expand((folder / f'node{number}' / 'cpulist').read_text().strip())
    except OSError:
        return sorted(os.sched_getaffinity(0))


def domains(partition):
    """[CPUs, one a core] of each NUMA domain with CPUs."""
    if not is_local(partition):
        every, count = cores(partition), partition.extras.get('numa_domains', 1)
        size = len(every) // count
        return [every[i * size : (i + 1) * size] for i in range(count)]
    allowed = os.sched_getaffinity(0)
    lists = sorted(NODES.glob('node[0-9]*/cpulist'), key=lambda p: int(p.parent.name[4:]))
    sets = [allowed & set(pinnings.expand(p.read_text().strip())) for p in lists]
    return [one_per_core(s) for s in sets if s] or [cores(partition)]
