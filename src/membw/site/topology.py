"""The CPUs of a node: read off this machine, or taken from a partition's processor facts; lists of
them as the kernel writes them: '0-2,5'."""

import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from membw.errors import MembwError
from membw.files import text_if_any

GROUPS = Path('/sys/fs/cgroup')
CPUS = Path('/sys/devices/system/cpu')
NODES = Path('/sys/devices/system/node')
MOST_CPUS = 1 << 16  # Linux is built for 8,192 at most


def expand(text: object) -> list[int]:
    """'0-2,5' -> [0, 1, 2, 5]."""
    cpus: list[int] = []
    # Linux 5.15-rc ended its lists by a NUL
    for part in filter(None, re.sub(r'[\s\0]', '', str(text)).split(',')):
        found = re.fullmatch(r'(\d{1,6})(?:-(\d{1,6}))?', part, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last < MOST_CPUS:
            raise MembwError(f"'{part[:40]}' is no CPU, and no range of CPUs")
        cpus += range(first, last + 1)
    return cpus


def lines_of_cgroups(text: str) -> list[list[str]]:
    """[[number, controllers, path]] of /proc/self/cgroup."""
    return [words for line in text.splitlines() if len(words := line.split(':', 2)) == 3]


def compress(cpus: Iterable[int]) -> str:
    """[0, 1, 2, 5] -> '0-2,5'."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ','.join(f'{a}-{b}' if b > a else f'{a}' for a, b in ranges)


def one_per_core(allowed: Iterable[int], folder: Path = CPUS) -> list[int]:
    """The first allowed hardware thread of each core."""
    cpus, seen = [], set()
    for cpu in sorted(allowed):
        text = text_if_any(folder / f'cpu{cpu}' / 'topology' / 'thread_siblings_list')
        if cpu not in seen:
            cpus.append(cpu)
            seen.update(expand(text))
    return cpus


def quota(groups: Path = GROUPS, own: Path = Path('/proc/self/cgroup')) -> float:
    """CPUs' worth of time that the cgroups (v1, v2) grant this process."""
    least = math.inf
    for _, controllers, path in lines_of_cgroups(text_if_any(own)):
        if controllers and 'cpu' not in controllers.split(','):
            continue
        folder = groups / ('cpu' if controllers else '') / path.strip('/')
        above = [folder, *folder.parents]
        for group in above[: above.index(groups) + 1]:
            names = ('cpu.max', 'cpu.cfs_quota_us', 'cpu.cfs_period_us')
            words = ' '.join(text_if_any(group / name) for name in names).split()
            if len(words) == 2 and all(map(str.isdecimal, words)) and int(words[1]):
                least = min(least, int(words[0]) / int(words[1]))
    return least


def cores_here() -> list[int]:
    """One CPU number per core of those that this process may use, of whole CPUs of its quota."""
    cpus = one_per_core(os.sched_getaffinity(0))
    return cpus[: max(1, int(min(quota() + 0.01, len(cpus))))]


def is_local(partition: Any) -> bool:
    return partition.scheduler.registered_name == 'local'


def bits(mask: str) -> set[int]:
    """'0x105' -> {0, 2, 8}, as ReFrame's processor.topology writes sets of CPUs."""
    number = int(mask.strip('\0'), 16)  # Linux 5.15-rc
    return {cpu for cpu in range(number.bit_length()) if number >> cpu & 1}


def online(processor: dict[str, Any], folder: Path = CPUS) -> dict[str, Any]:
    """ReFrame's facts without the CPUs that are offline, which it counts as well."""
    known, cpus = processor.get('topology') or {}, set(expand(text_if_any(folder / 'online')))
    if not cpus or len(cpus) == processor.get('num_cpus'):
        return processor
    sets = {
        kind: [left for mask in known.get(kind, []) if (left := bits(mask) & cpus)]
        for kind in ('numa_nodes', 'sockets', 'cores')
    }
    masks = {kind: [f'0x{sum(1 << c for c in s):x}' for s in each] for kind, each in sets.items()}
    return {
        **processor,
        'num_cpus': len(cpus),
        'num_cpus_per_core': max(map(len, sets['cores']), default=1),
        'num_cpus_per_socket': max(map(len, sets['sockets']), default=len(cpus)),
        'topology': {**known, **masks},
    }


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
    try:
        names = [name for name in os.listdir(folder) if re.fullmatch('node[0-9]+', name)]
    except (FileNotFoundError, NotADirectoryError):  # all else ends here: it is not known
        return {}
    texts = {int(name[4:]): text_if_any(folder / name / 'cpulist') for name in names}
    return {number: expand(text) for number, text in sorted(texts.items())}


def domain_cpus(number: int, folder: Path = NODES) -> list[int]:
    return numbered(folder).get(number) or sorted(os.sched_getaffinity(0))


def local_domains(
    allowed: Iterable[int], nodes: Path = NODES, cpus: Path = CPUS
) -> dict[int, list[int]]:
    """{number: CPUs, one per core} of each NUMA domain of this machine that has allowed CPUs."""
    sets = disjoint({n: set(allowed) & set(members) for n, members in numbered(nodes).items()})
    return {n: one_per_core(s, cpus) for n, s in sets.items()} or {0: one_per_core(allowed, cpus)}


def disjoint(sets: dict[int, set[int]]) -> dict[int, set[int]]:
    """The domains with CPUs. With numa=fake a CPU is in several; the first of them has it here,
    and the memory of each is local (memories_of)."""
    found: dict[int, set[int]] = {}
    for number, members in sets.items():
        rest = members.difference(*found.values())
        found |= {number: rest} if rest else {}
    return found


def domains(partition: Any) -> dict[int, list[int]]:
    """{number: CPUs, one per core} of each NUMA domain with CPUs."""
    if is_local(partition):
        return local_domains(os.sched_getaffinity(0))
    every, known = cores(partition), recorded(partition, 'numa_nodes')
    sets = {d['domain']: set(expand(d['cpus'])) for d in partition.extras.get('numa', [])}
    if not sets and known:
        # ReFrame sorts the masks and keeps no numbers: those with CPUs come first, from 0
        listed = sorted(sorted(members & set(every)) for members in known)
        sets = dict(enumerate(set(cpus) for cpus in listed if cpus))
    if sets:
        found = disjoint({n: cpus & set(every) for n, cpus in sets.items()})
        return {n: sorted(cpus) for n, cpus in found.items()}
    count = partition.extras.get('numa_domains', 1)
    size = len(every) // count
    return {i: every[i * size : (i + 1) * size] for i in range(count)}


def numa(folder: Path = NODES) -> list[dict[str, Any]]:
    """The NUMA domains of this machine, as `extras: numa` of a system file has them; distances are
    the firmware's, local is 10."""
    found = []
    for number, cpus in numbered(folder).items():
        here = folder / f'node{number}'
        total = re.search(r'MemTotal:\s*(\d+) kB', text_if_any(here / 'meminfo'))
        gib = int(total[1]) / 2**20 if total else 0
        found.append({
            'domain': number,
            'cpus': compress(cpus),
            'memory_gib': max(0.1, round(gib, 1)) if gib else 0,
            'distances': expand(text_if_any(here / 'distance').strip().replace(' ', ',')),
        })  # fmt: skip
    return found


def memories_of(
    home: int, numa: list[dict[str, Any]], allowed: Iterable[int] = ()
) -> dict[str, int]:
    """{'local': the nearest with memory, 'remote': the farthest that has CPUs, too,
    'cpuless': the nearest without CPUs} of the CPUs of one domain.

    Without distances there is no nearest and no farthest, but of one. `allowed`: () for all.
    """
    row: list[int] = next((d.get('distances', []) for d in numa if d['domain'] == home), [])
    far = dict(zip((d['domain'] for d in numa), row, strict=False))
    cpus = {d['domain']: set(expand(d['cpus'])) for d in numa}
    full = [d['domain'] for d in numa if d.get('memory_gib', 1) > 0]
    full = [n for n in full if not allowed or n in allowed]

    def nearest(domains: list[int], sign: int = 1) -> int | None:
        """By -1 the farthest."""
        known = [n for n in domains if n in far or len(domains) == 1]
        return min(known, key=lambda n: (sign * far.get(n, 0), n), default=None)

    local = home if home in full else nearest(full)
    local = home if local is None else local
    others = [n for n in full if n not in (home, local)]
    remote = [n for n in others if cpus[n] and not cpus[n] & cpus.get(home, set())]
    cpuless = [n for n in full if not cpus[n] and n != local]
    found = {'local': local, 'remote': nearest(remote, -1), 'cpuless': nearest(cpuless)}
    return {name: number for name, number in found.items() if number is not None}


def memories(partition: Any) -> dict[str, int]:
    """Name -> NUMA domain whose memory the threads of the first domain read and write."""
    home = next(iter(domains(partition)))
    if not is_local(partition):
        return memories_of(home, partition.extras.get('numa', []))
    # the domains that this process may take memory from
    text = text_if_any(Path('/proc/self/status'))
    listed = re.search(r'^Mems_allowed_list:\s*(\S+)$', text, re.M)
    return memories_of(home, numa(), expand(listed[1]) if listed else ())
