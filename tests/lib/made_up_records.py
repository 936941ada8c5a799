"""Records as the programs and checks leave them, with figures made up: for every test that
reads results. The base is one record of stream, valid by the schema."""

import json
from datetime import datetime, timezone
from pathlib import Path
from zlib import crc32

import numpy as np

START = 1_780_000_000  # 2026-05-28, 20:26 UTC
DAY = 86_400
KERNELS = ('copy', 'scale', 'add', 'triad')
RELATIVE = (0.92, 0.93, 0.99, 1.0)  # of Triad
TRIAD = 180.0  # GB/s of a node
THREADS = 8
PAGES = {'policy': 'default', 'pages_sampled': 96, 'pages_absent': 0, 'pages_misplaced': 0,
         'pages_on': {'0': 96}}  # fmt: skip
FACTS = {
    'cpu_model': 'Synthetic 9000', 'microcode': '0x1', 'kernel': '6.1.0', 'thp': 'always',
    'numa_balancing': '0', 'governor': 'performance', 'clock_source': 'tsc',
    'freq_max_khz': 3_000_000,
    'cpus': THREADS, 'cores': THREADS, 'smt': 'off', 'sockets': 1, 'memory_channels': 8,
    'caches': ['L3 Unified 131072K shared by CPUs 0-7'], 'numa_nodes': 1,
    'numa': {'0': {'distances': '10', 'cpus': '0-7'}}, 'cgroup_mem_mib': None,
    'cgroup_cpus': None, 'mem_total_mib': 262_144, 'hugepages_total': '0',
    'dimms_source': 'none', 'dimms': [],
}  # fmt: skip
BUILD = {
    'compiler': 'gcc 12.2.0', 'flags': '-O2 -fopenmp', 'openmp': 201511, 'preset': 'gcc-o2',
    'compile_line': 'gcc -O2 -fopenmp *.c', 'source_sha256': 'a' * 64, 'code_sha256': 'c' * 64,
    'binary_sha256': 'b' * 64,
}  # fmt: skip
# as a record of membw 1.0.0, or of a program without BINARY.json that is no ELF
UNKNOWN_BUILD = {'compiler': 'gcc 12.2.0', 'flags': None, 'openmp': 201511}
CASE = {
    'test': 'stream', 'system': 'thin', 'partition': 'node', 'environ': 'gcc-o2',
    'pinning': 'omp', 'parameters': '', 'verdict': 'VALID', 'reasons': [], 'references': {},
    'reference_expired': '', 'known_issues': {}, 'compile_line': 'gcc -O2 -fopenmp *.c',
    'compiler': 'gcc 12.2.0', 'source_sha256': 'a' * 64, 'code_sha256': 'c' * 64,
    'binary_sha256': 'b' * 64, 'spack_hash': 'h' * 32, 'built_with': 'spack',
    'commit': '0' * 40, 'modules': [], 'session': 's1',
}  # fmt: skip


def when(day=0.0, seconds=0.0):
    """Days and seconds after START as a record writes it."""
    moment = datetime.fromtimestamp(START + day * DAY + seconds, timezone.utc)
    return f'{moment:%Y-%m-%dT%H:%M:%SZ}'


def metrics(values, unit='GB/s', better='higher', half=0.005):
    """{name: row} as a record has it; `half`: of the interval, as a fraction; None: none."""
    rows = {}
    for name, value in values.items():
        rows[name] = {'value': float(value), 'unit': unit, 'better': better}
        if half is not None:
            rows[name] |= {'low': value * (1 - half), 'high': value * (1 + half)}
    return rows


def stream(values=None, share=1.0):
    """Metrics of STREAM: `values` in GB/s per kernel, else those of TRIAD; times `share`."""
    values = values or dict(zip(KERNELS, [TRIAD * r for r in RELATIVE], strict=True))
    return metrics({name: share * value for name, value in values.items()})


def record(node='n1', day=0.0, rows=None, case=None, facts=None, **fields):
    """One record; `rows`: its metrics; `case`: what differs from CASE, False: it has none."""
    rows = rows or stream()
    data = {
        'schema': 'membw-record-2', 'program': 'stream', 'version': '0.1.0',
        'kernels_set': 'standard', 'language': 'c', 'time': when(day), 'host': node,
        'rank': 0, 'ranks': 1, 'array_size': 100_000_000, 'array_size_from': 'auto',
        'offset': 0, 'element_bytes': 8, 'ntimes': 10, 'threads': THREADS, 'llc_mib': 128,
        'clock_tick_s': 3e-8, 'peak': {'value': None, 'unit': 'GB/s'}, 'headline': 'triad',
        'kernels': {name: _kernel(1000 * rows[name]['value']) for name in KERNELS if name in rows},
        'metrics': rows, 'exit_status': 0,
        'threads_on': [{'thread': i, 'cpu': i, 'affinity': str(i), 'moved': False,
                        'cpus_seen': str(i)} for i in range(THREADS)],
        'validation': {'ok': True, 'wrong_elements': 0, 'first': []},
        'verdict': 'VALID', 'reasons': [], 'warnings': [],
        'pages': {'requested': 'default', 'page_kib': 4, 'huge_mib': 0},
        'placement_before': PAGES, 'placement_after': PAGES,
        'busy': {'wall_s': 1.0, 'own_s': 8.0, 'all_s': 8.0, 'steal_s': 0, 'other_share': 0},
        'facts': {**FACTS, **(facts or {})},
        'build': BUILD,
        **fields,
    }  # fmt: skip
    if case is not False:
        data['case'] = {**CASE, **(case or {})}
    if data['program'] != 'stream':
        del data['kernels']
    return data


def _kernel(mbs):
    best = 2.4e9 / (mbs * 1e6)
    return {'bytes_per_element': 24, 'best_mbs': mbs, 'min_s': best, 'avg_s': best,
            'max_s': best, 'times_s': [best] * 10}  # fmt: skip


def fleet(nodes, days=(0,), noise=0.005, slow=(), seed=1, **fields):
    """STREAM on n001 ..; noise is normal, half of its variance common to the kernels of a run.

    `slow`: {node number: share of the rates that it reaches}.
    """
    rng = np.random.default_rng(seed)
    return [
        record(name(n), day, stream(_noisy(rng, noise), dict(slow).get(n, 1.0)), **fields)
        for day in days
        for n in range(1, nodes + 1)
    ]


def _noisy(rng, noise):
    common, own = rng.normal(0, noise / np.sqrt(2)), rng.normal(0, noise / np.sqrt(2), 4)
    rates = TRIAD * np.array(RELATIVE) * (1 + common + own)
    return dict(zip(KERNELS, rates.tolist(), strict=True))


def name(number):
    return f'n{number:03d}'


def changed(made, **changes):
    """`made`, in which the fields are set: 'case__pinning' within another one; None: without."""
    for key, value in changes.items():
        *outer, last = key.split('__')
        place = made
        for word in outer:
            place = place[word]
        place[last] = value
        if value is None:
            del place[last]
    return made


def runs(nodes, count, day='2026-10-01', minutes=20, unit='GB/s', better='higher', bound=None,
         **changes):  # fmt: skip
    """`count` runs of each node from 1 o'clock on, as `membw run` keeps them; `nodes`: {name:
    Triad}. No two figures are equal: they differ by less than 0.1 %."""
    begin = datetime.fromisoformat(f'{day}T01:00:00+00:00')
    made = []
    for number in range(count):
        for place, (node, triad) in enumerate(nodes.items()):
            own = 1e-5 * (number * 7 % 10) + 1e-6 * (place % 10) + 1e-7 * begin.day
            own += 1e-11 * (crc32(node.encode()) % 9973)
            apart = 9e-4 * crc32(f'{node}{day}{number}'.encode()) / 2**32
            values = {'copy': 0.9 * triad * (1 + apart), 'triad': triad * (1 + own)}
            rows = metrics(values, unit, better, half=None)
            for row in rows.values():
                row |= {'bound': bound} if bound else {}
            row = record(node, 0, rows, threads=24) | {
                'time': when(0, begin.timestamp() - START + 60 * minutes * number),
                'build': {'compiler': 'gcc 12.2.0', 'flags': '-O2 -fopenmp -mcmodel=medium'},
                'facts': {'cpu_model': 'Synthetic 9000'},
                'case': {'test': 'stream', 'system': 'thin', 'partition': 'thin',
                         'environ': 'gcc-o2', 'pinning': 'likwid', 'parameters': '',
                         'source_sha256': 'a' * 64},
            }  # fmt: skip
            made.append(changed(row, **changes))
    return made


def invalid(row):
    """The same record, with a wrong figure."""
    why = {'reason': 'wrong-placement', 'detail': 'pages of domain 1 on domain 0'}
    return row | {'verdict': 'INVALID', 'reasons': [{**why, 'allowed': False}]}


def write(path, rows):
    """The file, one record per line; `path` may be a folder: results/records/all.jsonl."""
    path = Path(path)
    if path.is_dir():
        (path / 'records').mkdir(exist_ok=True)
        path = path / 'records' / 'all.jsonl'
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return path
