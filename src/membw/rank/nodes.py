"""From records of ranks to nodes: the latest run of each, complete or not."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from membw.results.record import STRICT

# Records of one node belong to one run when they are no further apart.
RUN_SPAN_S = 900


@dataclass
class Node:
    """One node in one configuration, or one that did not report."""

    name: str
    verdict: str = 'PASS'
    notes: list = field(default_factory=list)
    group: int = 0
    kernels: tuple = ()
    rates: np.ndarray = None  # GB/s, ranks x kernels
    steadiness: float = 1.0
    traits: dict = field(default_factory=dict)
    sockets: int = 1
    channels: int = 0
    ratios: dict = field(default_factory=dict)  # kernel -> node's rate / median
    z: float = 0.0
    q: float = 1.0
    pattern: str = ''

    @property
    def reason(self):
        return '; '.join(self.notes)

    @property
    def threads(self):
        return int(self.traits.get('threads', 1)) * self.traits['ranks']


def assemble(records):
    """The nodes that the records speak of, once for each program, build and set of kernels."""
    units = defaultdict(list)
    for record in records:
        key = (record.host, *(record.traits.get(t) for t in STRICT), tuple(record.rates))
        units[key].append(record)
    runs = [_latest_run(unit) for unit in units.values()]
    usual = _usual_ranks(runs)
    return [_node(run, usual[_run_key(run[0])]) for run in runs]


def _latest_run(records):
    """The newest record of a node and those of its other ranks in the same run."""
    if len(records) == 1:
        return records
    per_file = Counter(r.file for r in records)
    newest = max(records, key=lambda r: r.time)
    chosen = {}
    for r in sorted(records, key=lambda r: -r.time):
        together = r.file == newest.file or per_file[r.file] == per_file[newest.file] == 1
        if together and r.ranks == newest.ranks and newest.time - r.time <= RUN_SPAN_S:
            chosen.setdefault(r.rank, r)
    return sorted(chosen.values(), key=lambda r: (r.domain, r.rank))


def _run_key(record):
    return record.ranks, record.traits.get('cpu_model'), record.traits.get('flags')


def _usual_ranks(runs):
    """How many ranks a node has in each run: what most nodes have, the more of two."""
    counts = defaultdict(Counter)
    for run in runs:
        counts[_run_key(run[0])][len(run)] += 1
    return {key: max(c, key=lambda n: (c[n], n)) for key, c in counts.items()}


def _node(run, usual):
    first = run[0]
    node = Node(first.host, kernels=tuple(first.rates))
    node.traits = dict(first.traits, ranks=len(run))
    node.sockets, node.channels = first.sockets, first.channels
    node.steadiness = min(r.steadiness for r in run)
    node.rates = np.array([[r.rates[k] for k in first.rates] for r in run])
    invalid = sorted({reason for r in run for reason in r.invalid})
    if len(run) < usual:
        node.verdict = 'MISSING'
        node.notes.append(f'{usual - len(run)} of {usual} ranks did not report')
    if invalid:
        node.verdict = 'INVALID'
        node.notes.append(', '.join(invalid))
    return node
