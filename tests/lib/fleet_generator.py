"""Synthetic fleets with planted faults, from a seed: what `membw rank` must find."""

import functools
import json
from dataclasses import dataclass, field

import numpy as np
from record_schema import check_all

KERNELS = {'copy': 2, 'scale': 2, 'add': 3, 'triad': 3}  # arrays touched
RELATIVE = (0.92, 0.93, 0.99, 1.0)  # of triad
ELEMENTS = 136_000_000
REPETITIONS = 10
SOCKETS = 2
THREADS = 16  # a node, one a CPU


@dataclass
class Synthetic:
    """Rates as they would be measured, and the truth."""

    rates: np.ndarray  # MB/s, nodes x ranks x kernels
    hiccups: np.ndarray  # usual time / best time - 1, one a node
    bad: dict = field(default_factory=dict)  # node number -> kind
    facts: dict = field(default_factory=dict)  # node number -> facts unlike the others'


def healthy(nodes, seed, ranks=1, noise=0.005, triad_mbs=320_000):
    """Nodes that differ by normal noise; half of it is the node's, half the kernel's own."""
    rng = np.random.default_rng(seed)
    share = noise / np.sqrt(2)
    of_node = rng.normal(0, share, (nodes, ranks, 1))
    of_kernel = rng.normal(0, share, (nodes, ranks, len(KERNELS)))
    rates = triad_mbs / ranks * np.array(RELATIVE) * (1 + of_node + of_kernel)
    return Synthetic(rates, np.abs(rng.normal(0, 0.004, nodes)))


def slow(fleet, numbers, share):
    """Everything slow alike."""
    for n in numbers:
        fleet.rates[n] *= 1 - share
        fleet.bad[int(n)] = 'slow'


def channel_gone(fleet, numbers, channels):
    for n in numbers:
        fleet.rates[n] *= (channels - 1) / channels
        fleet.bad[int(n)] = 'channel'


def domain_slow(fleet, numbers, share):
    for n in numbers:
        fleet.rates[n, n % fleet.rates.shape[1]] *= 1 - share
        fleet.bad[int(n)] = 'domain'


def socket_slow(fleet, numbers, share):
    for n in numbers:
        of_socket = np.array_split(np.arange(fleet.rates.shape[1]), SOCKETS)[n % SOCKETS]
        fleet.rates[n, of_socket] *= 1 - share
        fleet.bad[int(n)] = 'socket'


def unstable(fleet, numbers, share):
    for n in numbers:
        fleet.hiccups[n] = share
        fleet.bad[int(n)] = 'unstable'


def second_kit(fleet, numbers, share):
    """Another kind of DIMM, no fault: nothing is added to `bad`."""
    fleet.rates[numbers] *= 1 - share


def name(number):
    return f'n{number + 1:05d}'


def records(fleet, channels=16):
    """The JSON objects that the ranks would have written, each as in the schema."""
    nodes, ranks, _ = fleet.rates.shape
    return check_all([
        _record(fleet, node, rank, nodes * ranks, channels)
        for node in range(nodes)
        for rank in range(ranks)
    ])  # fmt: skip


def _record(fleet, node, rank, total, channels):
    ranks = fleet.rates.shape[1]
    facts = _facts(ranks) | {'memory_channels': channels, 'mem_total_mib': 2**18 + node % 9}
    pages = {'policy': 'default', 'pages_sampled': 96, 'pages_absent': 0, 'pages_misplaced': 0,
             'pages_on': {str(rank): 96}}  # fmt: skip
    return {
        'schema': 'membw-record-1', 'program': 'stream', 'version': '0.1.0',
        'kernels_set': 'standard', 'language': 'c', 'time': '2026-11-21T13:00:00Z',
        'host': name(node), 'rank': node * ranks + rank, 'ranks': total,
        'array_size': ELEMENTS, 'array_size_from': 'auto', 'offset': 0, 'element_bytes': 8,
        'ntimes': REPETITIONS, 'threads': THREADS // ranks, 'llc_mib': 256,
        'clock_tick_s': 3e-8, 'peak_gbs': None, 'peak_source': 'none', 'peak_note': 'synthetic',
        'kernels': {
            kernel: _kernel(8 * arrays, fleet.rates[node, rank, k], fleet.hiccups[node])
            for k, (kernel, arrays) in enumerate(KERNELS.items())
        },
        'threads_on': _threads_on(rank, ranks),
        'validation': {'ok': True, 'wrong_elements': 0, 'first': []},
        'verdict': 'VALID', 'reasons': [], 'warnings': [],
        'pages': {'asked': 'default', 'page_kib': 4, 'huge_mib': 0},
        'placement_before': pages, 'placement_after': pages,
        'busy': {'wall_s': 1.0, 'own_s': 16.0, 'all_s': 16.0, 'steal_s': 0, 'others_share': 0},
        'facts': facts | fleet.facts.get(node, {}),
        'build': {'compiler': 'gcc 12.2.0', 'flags': '-O3 -march=native', 'openmp': 201511},
    }  # fmt: skip


def _cpus(rank, ranks):
    return range(rank * THREADS // ranks, (rank + 1) * THREADS // ranks)


@functools.lru_cache
def _threads_on(rank, ranks):
    return [
        {'thread': i, 'cpu': cpu, 'affinity': str(cpu), 'moved': False, 'cpus_seen': str(cpu)}
        for i, cpu in enumerate(_cpus(rank, ranks))
    ]


def _distance(one, other, ranks):
    """As firmware has them: 10 its own memory, 12 in the same socket, 32 in another one."""
    if one == other:
        return 10
    return 12 if one * SOCKETS // ranks == other * SOCKETS // ranks else 32


@functools.lru_cache
def _facts(ranks):
    """A node with a NUMA domain for each of its ranks."""
    numa = {
        str(domain): {
            'distances': ' '.join(str(_distance(domain, n, ranks)) for n in range(ranks)),
            'cpus': f'{_cpus(domain, ranks)[0]}-{_cpus(domain, ranks)[-1]}',
        }
        for domain in range(ranks)
    }
    return {
        'cpu_model': 'Synthetic 9000', 'microcode': '0x1', 'kernel': '6.1.0', 'thp': 'always',
        'numa_balancing': '0', 'governor': 'performance', 'freq_max_khz': 3_000_000,
        'cpus': THREADS, 'cores': THREADS, 'smt': 'off', 'sockets': SOCKETS,
        'caches': [f'L3 Unified 131072K shared by CPUs 0-{THREADS // 2 - 1}'],
        'numa_nodes': ranks, 'numa': numa, 'cgroup_mem_mib': None, 'cgroup_cpus': None,
        'hugepages_total': '0', 'dimms_source': 'none', 'dimms': [],
    }  # fmt: skip


def _kernel(bytes_per_element, mbs, hiccup):
    """The second repetition is the best, every other one takes `hiccup` more."""
    best = float(bytes_per_element * ELEMENTS / (mbs * 1e6))
    times = [best * 1.2, best] + [best * (1 + float(hiccup))] * (REPETITIONS - 2)
    return {
        'bytes_per_element': bytes_per_element, 'best_mbs': float(mbs), 'min_s': best,
        'avg_s': sum(times[1:]) / (REPETITIONS - 1), 'max_s': max(times[1:]), 'times_s': times,
    }  # fmt: skip


def write(rows, path):
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return path
