"""Synthetic fleets with planted faults, from a seed: what `membw rank` must find."""

import json
from dataclasses import dataclass, field

import numpy as np

KERNELS = {'copy': 2, 'scale': 2, 'add': 3, 'triad': 3}  # arrays touched
RELATIVE = (0.92, 0.93, 0.99, 1.0)  # of triad
ELEMENTS = 136_000_000
REPETITIONS = 10
SOCKETS = 2


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
    """The JSON objects that the ranks would have written."""
    nodes, ranks, _ = fleet.rates.shape
    return [
        _record(fleet, node, rank, nodes * ranks, channels)
        for node in range(nodes)
        for rank in range(ranks)
    ]


def _record(fleet, node, rank, total, channels):
    ranks = fleet.rates.shape[1]
    facts = {'cpu_model': 'Synthetic 9000', 'numa_nodes': ranks, 'sockets': SOCKETS}
    facts |= {'memory_channels': channels, 'mem_total_mib': 2**18 + node % 9} | fleet.facts.get(
        node, {}
    )
    return {
        'schema': 'membw-record-1', 'program': 'stream', 'version': '0.1.0',
        'kernels_set': 'standard', 'language': 'c', 'time': '2026-11-21T13:00:00Z',
        'host': name(node), 'rank': node * ranks + rank, 'ranks': total,
        'array_size': ELEMENTS, 'element_bytes': 8, 'ntimes': REPETITIONS, 'threads': 64 // ranks,
        'kernels': {
            kernel: _kernel(8 * arrays, fleet.rates[node, rank, k], fleet.hiccups[node])
            for k, (kernel, arrays) in enumerate(KERNELS.items())
        },
        'verdict': 'VALID', 'reasons': [], 'facts': facts,
        'build': {'compiler': 'gcc 12.2.0', 'flags': '-O3 -march=native'},
    }  # fmt: skip


def _kernel(bytes_per_element, mbs, hiccup):
    """The second repetition is the best, every other one takes `hiccup` more."""
    best = bytes_per_element * ELEMENTS / (mbs * 1e6)
    times = [best * 1.2, best] + [best * (1 + hiccup)] * (REPETITIONS - 2)
    return {
        'bytes_per_element': bytes_per_element, 'best_mbs': float(mbs), 'min_s': best,
        'avg_s': sum(times[1:]) / (REPETITIONS - 1), 'max_s': max(times[1:]), 'times_s': times,
    }  # fmt: skip


def write(rows, path):
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return path
