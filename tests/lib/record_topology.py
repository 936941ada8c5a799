"""Writes the facts of a tree of /sys, as tests/lib/topologies.py lays them out again:

    python tests/lib/record_topology.py TREE 'where it is from' >NAME.yaml

TREE is / or a recorded tree, as those of hwloc's tests/hwloc/linux; what the tests expect of it is
what hwloc (lstopo) says of the tree itself.
"""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import yaml
from topologies import CPU, GIB, listed


def cpus_of(mask):
    """'00000000,00000202' or hwloc's '0x00000202' -> [1, 9]."""
    words = [word.removeprefix('0x').rjust(8, '0') for word in mask.strip().split(',')]
    number = int(''.join(words), 16)
    return [cpu for cpu in range(number.bit_length()) if number >> cpu & 1]


def objects(node, above=()):
    """(object, those above it) of a topology of hwloc."""
    for child in node.findall('object'):
        yield child, above
        yield from objects(child, (*above, child))


def by_hwloc(tree):
    """(online CPUs, {'cores', 'sockets', 'llc_kib'})"""
    clean = {**os.environ, 'HWLOC_FSROOT': str(tree), 'HWLOC_COMPONENTS': 'linux,stop',
             'HWLOC_THISSYSTEM': '0'}  # fmt: skip
    words = ['lstopo-no-graphics', '--no-io', '--of', 'xml']
    shown = subprocess.run(words, env=clean, capture_output=True, text=True, check=True).stdout
    every = list(objects(ElementTree.fromstring(shown)))
    last = {}
    for node, above in every:
        if node.get('type') == 'PU':
            data = [o for o in above if 'Cache' in o.get('type') and o.get('cache_type') != '2']
            if data:
                last[id(data[0])] = int(data[0].get('cache_size')) // 1024
    kinds = [node.get('type') for node, _ in every]
    online = sorted(int(o.get('os_index')) for o, _ in every if o.get('type') == 'PU')
    return online, {
        'cores': kinds.count('Core'),
        'sockets': kinds.count('Package'),
        'llc_kib': sum(last.values()),
    }


class Tree:
    def __init__(self, root, online):
        self.root, self.online = pathlib.Path(root), set(online)

    def text(self, *path):
        try:
            return pathlib.Path(self.root, *path).read_text().strip(' \n\0')
        except OSError:
            return ''

    def sharing(self, cpu, *path):
        """CPUs of a mask below a CPU, those that are online; the CPU alone without one."""
        found = set(cpus_of(self.text(CPU, f'cpu{cpu}', *path) or '0')) & self.online
        return tuple(sorted(found or {cpu}))

    def groups(self, *path):
        return sorted({self.sharing(cpu, *path) for cpu in self.online})

    def caches(self):
        found = {}
        for cpu in sorted(self.online):
            for index in range(10):
                folder = (f'cpu{cpu}', 'cache', f'index{index}')
                size = self.text(CPU, *folder, 'size')
                if size:
                    kind = int(self.text(CPU, *folder, 'level')), self.text(CPU, *folder, 'type')
                    shared = self.sharing(cpu, 'cache', f'index{index}', 'shared_cpu_map')
                    found.setdefault((index, *kind, int(size.rstrip('K'))), set()).add(shared)
        return [
            {'level': level, 'type': kind, 'kib': kib, 'shared': texts(sorted(shared))}
            for (_, level, kind, kib), shared in sorted(found.items())
        ]

    def domains(self):
        found = {}
        for path in sorted(self.root.glob('sys/devices/system/node/node[0-9]*')):
            total = re.search(r'MemTotal:\s*(\d+)', self.text(path, 'meminfo'))
            cpus = set(cpus_of(self.text(path, 'cpumap') or '0')) & self.online
            found[int(path.name[4:])] = {
                'cpus': listed(cpus),
                'gib': round(int(total[1]) * 1024 / GIB, 1) if total else 1,
            }
        return dict(sorted(found.items()))


def texts(groups):
    return [listed(group) for group in groups]


def facts(root, source):
    online, expect = by_hwloc(root)
    tree = Tree(root, online)
    named = tree.text(CPU, f'cpu{online[0]}', 'topology', 'core_siblings')
    sockets = tree.groups('topology', 'core_siblings') if named else []
    old = not tree.text(CPU, f'cpu{online[0]}', 'topology', 'thread_siblings_list')
    ids = [tree.text(CPU, f'cpu{s[0]}', 'topology', 'physical_package_id') for s in sockets]
    return {
        'source': source,
        **({'old_kernel': True} if old else {}),
        'online': listed(online),
        'cores': texts(tree.groups('topology', 'thread_siblings')),
        'sockets': texts(sockets),
        'package_ids': [int(text or 0) for text in ids],
        'caches': tree.caches(),
        'domains': tree.domains(),
        'expect': expect,
    }


if __name__ == '__main__':
    yaml.safe_dump(facts(*sys.argv[1:3]), sys.stdout, sort_keys=False, width=99,
                   default_flow_style=None)  # fmt: skip
