"""The CPUs of a node: read off this machine, or taken from a partition's processor facts."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from membw.site.cpulist import expand

CPUS = Path('/sys/devices/system/cpu')
NODES = Path('/sys/devices/system/node')


def one_per_core(allowed: Iterable[int], folder: Path = CPUS) -> list[int]:
    """The first allowed hardware thread of each core."""
    cpus, seen = [], set()
    for cpu in sorted(allowed):
        try:
            text = (folder / f'cpu{cpu}' / 'topology' / 'thread_siblings_list').read_text()
        except OSError:
            text = str(cpu)
        if cpu not in seen:
            cpus.append(cpu)
            seen.update(expand(text.strip()))
    return cpus


def cores_here() -> list[int]:
    """One CPU number per core of those that this process may use."""
    return one_per_core(os.sched_getaffinity(0))


def is_local(partition: Any) -> bool:
    return partition.scheduler.registered_name == 'local'


def bits(mask: str) -> set[int]:
    """'0x105' -> {0, 2, 8}, as ReFrame's processor.topology writes sets of CPUs."""
    number = int(mask, 16)
    return {cpu for cpu in range(number.bit_length()) if number >> cpu & 1}


def recorded(partition: Any, kind: str) -> list[set[int]]:
    """[{CPUs}] of each core or NUMA domain, where the partition's facts have them."""
    topology = getattr(partition.processor, 'topology', None) or {}
    return [bits(mask) for mask in topology.get(kind, [])]


def cores(partition: Any) -> list[int]:
    """One CPU number per core; elsewhere than here: 0.. as Linux counts the first threads."""
    if is_local(partition):
        return cores_here()
    processor, known = partition.processor, recorded(partition, 'cores')
    count = processor.num_cpus // (processor.num_cpus_per_core or 1)
    every = sorted(map(min, known)) or list(range(count))
    return every[: partition.extras.get('threads', len(every))]


def numbered(folder: Path = NODES) -> dict[int, list[int]]:
    """{number: CPUs} of the NUMA domains of this machine, those without CPUs too."""
    lists = {}
    for path in folder.glob('node[0-9]*/cpulist'):
        lists[int(path.parent.name[4:])] = expand(path.read_text().strip())
    return dict(sorted(lists.items()))


def domain_cpus(number: int, folder: Path = NODES) -> list[int]:
    """Every CPU of one NUMA domain of this machine."""
    return numbered(folder).get(number) or sorted(os.sched_getaffinity(0))


def local_domains(
    allowed: Iterable[int], nodes: Path = NODES, cpus: Path = CPUS
) -> dict[int, list[int]]:
    """{number: CPUs, one per core} of each NUMA domain of this machine that has allowed CPUs."""
    sets = {number: set(allowed) & set(members) for number, members in numbered(nodes).items()}
    cores = {number: one_per_core(s, cpus) for number, s in sets.items() if s}
    return cores or {0: one_per_core(allowed, cpus)}


def domains(partition: Any) -> dict[int, list[int]]:
    """{number: CPUs, one per core} of each NUMA domain with CPUs."""
    if is_local(partition):
        return local_domains(os.sched_getaffinity(0))
    every, known = cores(partition), recorded(partition, 'numa_nodes')
    if known:
        # ReFrame sorts the masks and keeps no numbers: those with CPUs come first, from 0
        sets = [[cpu for cpu in every if cpu in members] for members in known]
        return dict(enumerate(sorted(s for s in sets if s)))
    count = partition.extras.get('numa_domains', 1)
    size = len(every) // count
    return {i: every[i * size : (i + 1) * size] for i in range(count)}


def distances(number: int, folder: Path = NODES) -> dict[int, int]:
    """{domain: distance} from one NUMA domain of this machine; firmware's figures, local is 10."""
    try:
        row = (folder / f'node{number}' / 'distance').read_text().split()
    except OSError:
        return {}
    return dict(zip(numbered(folder), map(int, row)))


def local_memories(home: int, domains: Iterable[int], folder: Path = NODES) -> dict[str, int]:
    """{'local': home, 'remote': the farthest with CPUs, 'cpuless': the nearest without}."""
    far = distances(home, folder)
    remote = [number for number in domains if number != home]
    without = [number for number, cpus in numbered(folder).items() if not cpus]
    memories = {'local': home}
    if remote:
        memories['remote'] = max(remote, key=lambda n: (far.get(n, 0), -n))
    if without:
        memories['cpuless'] = min(without, key=lambda n: (far.get(n, 0), n))
    return memories


def memories(partition: Any) -> dict[str, int]:
    """Name -> NUMA domain whose memory the threads of the first domain read and write."""
    numbers = list(domains(partition))
    if is_local(partition):
        return local_memories(numbers[0], numbers)
    return dict(zip(('local', 'remote'), numbers))
