"""The runs that a reference may be taken from, and those that may not, with the reason."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np

from membw.history.series import split_runs
from membw.printable import printable
from membw.results.provenance import without_build_path
from membw.results.reframe import MeasuredNothing
from membw.statistics.nights import night_numbers

# A reference belongs to one build and one way to run: these are of the newest run ...
BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'array_size', 'threads')
KIND = ('program', 'language', 'kernels_set', 'element_bytes')
# ... what differs here is told in the fingerprint.
SOFTWARE = (*BUILD, 'version', 'spack_hash', 'built_with', 'kernel_release', 'thp',
            'numa_balancing', 'governor', 'pages')  # fmt: skip
STANDARD = 'standard'  # kernels_set; what Tuned loops reach is no reference of the check
CLOCK_SLACK_S = 3600  # a node's clock may be so far ahead of ours
HARDWARE = ('cpu_model', 'microcode', 'memory_gib', 'dimms', 'numa_nodes')


@dataclass
class Samples:
    """Runs of one partition, environment and pinning."""

    key: tuple  # (partition, environ, pinning)
    kernels: tuple = ()
    nodes: list = field(default_factory=list)  # a name a run
    times: list = field(default_factory=list)
    rates: np.ndarray = None  # GB/s, runs x kernels
    left: Counter = field(default_factory=Counter)  # why a run does not count -> how often
    fingerprint: dict = field(default_factory=dict)  # software, hardware -> field -> values

    @property
    def nights(self):
        """A number for the night of each run."""
        return night_numbers(self.times)


def select(chunks, system, chosen, since=0.0):
    """({key: Samples}, problems) of the test `stream` on one system.

    `chosen` is (partition, environ, pinning), None where any will do; a record that ReFrame does
    not name takes all three from it.
    """
    units, problems, seen = defaultdict(list), [], set()
    for records, bad in chunks:
        problems += [p for p in bad if not isinstance(p, MeasuredNothing)]
        for r in records:
            key = _key(r, system, chosen)
            known = hash((r.host, r.rank, r.time, tuple(r.rates.values())))
            if key and r.time >= since and known not in seen:
                seen.add(known)
                units[key].append(r)
    return {key: _samples(key, _of_nodes(found)) for key, found in sorted(units.items())}, problems


def _of_nodes(records):
    """One record a node and run: the sum of its ranks."""
    hosts = defaultdict(list)
    for r in records:
        hosts[r.host].append(r)
    runs = [run for found in hosts.values() for run in split_runs(found)]
    usual = Counter(len(run) for run in runs).most_common(1)[0][0]
    return [_sum(run, usual) for run in runs]


def _sum(run, usual):
    """A node that lost a rank, or has an INVALID one, gives no figure."""
    invalid = next((r.invalid for r in run if r.invalid), ())
    if len(run) != usual:
        invalid = ('incomplete',)
    allowed = next((r.allowed for r in run if r.allowed), ())
    rates = {k: sum(r.rates[k] for r in run) for k in run[0].rates}
    return replace(run[0], rates=rates, invalid=invalid, allowed=allowed)


def _key(record, system, chosen):
    named = tuple(record.traits.get(n) for n in ('partition', 'environ', 'pinning'))
    if 'test' not in record.traits and all(chosen):
        named = (_full(chosen[0], system), *chosen[1:])
    if record.traits.get('test', 'stream') != 'stream' or not all(named):
        return None
    wanted = (_full(chosen[0], system), *chosen[1:])
    fits = all(w in (None, n) for w, n in zip(wanted, named, strict=True))
    return named if fits and named[0].split(':')[0] == system else None


def _full(partition, system):
    return f'{system}:{partition}' if partition and ':' not in partition else partition


def _samples(key, records):
    found, kept, now = Samples(key), [], time.time()
    for r in records:
        why = _unfit(r, now)
        if why:
            found.left[why] += 1
        else:
            kept.append(r)
    kept = _of_newest_build(kept, found.left)
    if kept:
        found.kernels = tuple(kept[0].rates)
        found.nodes, found.times = [r.host for r in kept], [r.time for r in kept]
        found.rates = np.array([[r.rates[k] for k in found.kernels] for r in kept])
        found.fingerprint = _fingerprint(kept)
    return found


def _unfit(record, now):
    if record.invalid:
        return f'INVALID: {record.invalid[0].split(" (")[0]}'
    if record.allowed:
        return f'VALID only because --allow named {record.allowed[0]}'
    if record.traits.get('kernels_set', STANDARD) != STANDARD:
        return (
            f'kernels_set {printable(record.traits["kernels_set"])}: a reference is of {STANDARD}'
        )
    if record.time > now + CLOCK_SLACK_S:
        return 'dated in the future'
    return None if record.time else 'without a date'


def _of_newest_build(records, left):
    builds = [_build(r) for r in records]
    newest = max(records, key=lambda r: r.time, default=None)
    wanted = newest and (_build(newest), tuple(newest.rates))
    kept = [
        r for r, b in zip(records, builds, strict=True) if (b, tuple(r.rates)) == wanted
    ]  # fmt: skip
    if len(kept) < len(records):
        left['of another build, kind, array size or number of threads'] += len(records) - len(kept)
    return kept


def _build(record):
    made = without_build_path(record.provenance)
    return tuple(made.get(f) for f in BUILD) + tuple(record.traits.get(f) for f in KIND)


def _fingerprint(records):
    """{'software': {field: value}, 'hardware': ...}; several values: how many runs had which."""
    told = [{**without_build_path(r.provenance), 'cpu_model': r.traits.get('cpu_model')}
            for r in records]  # fmt: skip
    return {
        'software': _values(told, SOFTWARE),
        'hardware': _values(told, HARDWARE),
    }


def _values(told, fields):
    found = {}
    for name in fields:
        counts = Counter(t[name] for t in told if t.get(name))
        if len(counts) == 1:
            found[name] = next(iter(counts))
        elif counts:
            found[name] = ', '.join(f'{value} ({n} runs)' for value, n in counts.most_common())
    return found
