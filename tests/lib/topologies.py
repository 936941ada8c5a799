"""Recorded machines: tests/data/topologies/*.yaml, and the /sys that each of them describes.

A file names the CPUs, which of them are one core, the sockets, each cache by who shares it,
and the NUMA domains. Lists of CPUs are written as the kernel writes them; `{first: 0-7,192-199,
step: 8, count: 24}` is that list 24 times, each time 8 CPUs further.
"""

import os
import pathlib

import yaml
from places import ROOT

FOLDER = ROOT / 'tests/data/topologies'
NAMES = sorted(path.stem for path in FOLDER.glob('*.yaml'))
GIB = 1 << 30
CPU = 'sys/devices/system/cpu'


def load(name):
    return yaml.safe_load((FOLDER / f'{name}.yaml').read_text())


def expand(text):
    """'0-2,5' -> [0, 1, 2, 5]; '0-12:4' -> [0, 4, 8, 12], shorter than the kernel's own."""
    cpus = []
    for part in filter(None, str(text).split(',')):
        part, _, step = part.partition(':')
        first, _, last = part.partition('-')
        cpus += range(int(first), int(last or first) + 1, int(step or 1))
    return cpus


def listed(cpus):
    """[0, 1, 2, 5] -> '0-2,5', as the kernel writes it."""
    runs = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ','.join(f'{a}-{b}' if b > a else f'{a}' for a, b in runs)


def mask(cpus):
    """[0, 33] -> '00000002,00000001', as the kernel writes it."""
    bits, words = sum(1 << cpu for cpu in cpus), []
    while bits or not words:
        words.append(f'{bits & 0xFFFFFFFF:08x}')
        bits >>= 32
    return ','.join(reversed(words))


def sets(described):
    """[CPUs] of each core, socket or cache, from a list of texts and repetitions."""
    found = []
    for item in described:
        if isinstance(item, dict):
            first = expand(item['first'])
            found += [[c + i * item['step'] for c in first] for i in range(item['count'])]
        else:
            found.append(expand(item))
    return found


class Machine:
    """A recorded machine as sets of CPUs; everything that is not online is left out."""

    def __init__(self, name):
        self.name, self.facts = name, load(name)
        self.online = expand(self.facts['online'])
        self.cores = self.present(self.facts.get('cores', []))
        self.sockets = self.present(self.facts.get('sockets', []))
        self.package_ids = self.facts.get('package_ids', range(len(self.sockets)))
        self.caches = [{**c, 'shared': self.present(c['shared'])} for c in self.facts['caches']]
        self.domains = {
            int(number): {**domain, 'cpus': self.only(expand(domain.get('cpus', '')))}
            for number, domain in self.facts.get('domains', {}).items()
        }

    def only(self, cpus):
        return [cpu for cpu in cpus if cpu in set(self.online)]

    def present(self, described):
        return [cpus for cpus in map(self.only, sets(described)) if cpus]

    def first_threads(self, allowed=None):
        """The lowest allowed CPU of each core, by the description alone."""
        allowed = set(self.online if allowed is None else allowed)
        return sorted(min(set(c) & allowed) for c in self.cores if set(c) & allowed)

    def with_cpus(self):
        return {n: d for n, d in self.domains.items() if d['cpus']}

    # --- the tree of files -------------------------------------------------------------------

    def files(self):
        """{path: text}; CPUs that share a core or a cache share its folder, by links()."""
        found = {f'{CPU}/online': listed(self.online), **self.numa()}
        for members in self.cores:
            found |= self.core(members)
        for index, cache in enumerate(self.caches):
            for members in cache['shared']:
                found |= self.cache(index, cache, members)
        return found | self.facts.get('files', {})

    def links(self):
        """{path: the folder of the first CPU that shares it}."""
        found = {}
        shared = [('topology', self.cores)]
        shared += [(f'cache/index{i}', c['shared']) for i, c in enumerate(self.caches)]
        for folder, groups in shared:
            for first, *others in groups:
                there = f'{CPU}/cpu{first}/{folder}'
                found |= {f'{CPU}/cpu{cpu}/{folder}': there for cpu in others}
        return found

    def core(self, members):
        folder = f'{CPU}/cpu{members[0]}/topology'
        socket = next((i for i, cpus in enumerate(self.sockets) if members[0] in cpus), None)
        found = {
            f'{folder}/thread_siblings_list': listed(members),
            f'{folder}/thread_siblings': mask(members),  # for ReFrame
        }
        if socket is not None:
            found[f'{folder}/core_siblings'] = mask(self.sockets[socket])
            found[f'{folder}/physical_package_id'] = str(self.package_ids[socket])
        return found

    def cache(self, index, cache, members):
        facts = {
            'level': cache['level'],
            'type': cache.get('type', 'Unified'),
            'size': f'{cache["kib"]}K',
            'shared_cpu_map': mask(members),
        }
        if not self.facts.get('masks_only'):
            facts['shared_cpu_list'] = listed(members)
        folder = f'{CPU}/cpu{members[0]}/cache/index{index}'
        return {f'{folder}/{name}': str(value) for name, value in facts.items()}

    def numa(self):
        if not self.domains:
            return {}
        found = {'sys/devices/system/node/online': listed(self.domains)}
        distances = self.facts.get('distances', {})
        for number, domain in self.domains.items():
            folder = f'sys/devices/system/node/node{number}'
            kib = int(domain['gib'] * GIB) // 1024
            found |= {
                f'{folder}/cpulist': listed(domain['cpus']),
                f'{folder}/cpumap': mask(domain['cpus']),  # for ReFrame
                f'{folder}/meminfo': f'Node {number} MemTotal: {kib} kB\n'
                f'Node {number} MemFree: {kib} kB',
                f'{folder}/distance': distances.get(number, '10'),
            }
            if 'side_cache_bytes' in domain:
                name = f'{folder}/memory_side_cache/index1/size'
                found[name] = str(domain['side_cache_bytes'])
        # what may be used is of the recorded machine, too
        found['proc/self/status'] = f'Mems_allowed_list:\t{listed(self.domains)}'
        total = sum(int(d['gib'] * GIB) // 1024 for d in self.domains.values())
        found['proc/meminfo'] = f'MemTotal: {total} kB\nMemAvailable: {total} kB'
        return found

    def write(self, root):
        """Lay the tree out below a folder; returns that folder."""
        for path, text in self.files().items():
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'{text}\n')
        for path, there in self.links().items():
            link = pathlib.Path(root, path)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(pathlib.Path(root, there), link.parent))
        return pathlib.Path(root)
