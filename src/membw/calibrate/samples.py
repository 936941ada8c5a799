"""The runs that a reference may be taken from, and those that may not, with the reason."""

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np

from membw.plural import plural
from membw.printable import printable
from membw.results import intervals, metrics
from membw.results.case import own_parameters
from membw.results.provenance import without_build_path
from membw.results.reframe import MeasuredNothing
from membw.results.runs import by_host, rates_of, split_runs, usual_ranks
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
    """Runs of one partition, environment and pinning, and of one value of each parameter."""

    key: tuple  # (partition, environ, pinning, a value of each of `parameters`)
    kernels: tuple = ()
    nodes: list = field(default_factory=list)  # a name per run
    times: list = field(default_factory=list)
    rates: np.ndarray = None  # larger is better (results/metrics.py), runs x kernels
    ranks: np.ndarray = None  # runs x ranks x kernels, where a node has several
    steady: np.ndarray = None  # the usual rate to the best one, of each run
    left: Counter = field(default_factory=Counter)  # why a run does not count -> how often
    fingerprint: dict = field(default_factory=dict)  # software, hardware -> field -> values
    metrics: tuple = ()  # of the kernels; bandwidths where nothing is said
    parameters: tuple = ()  # names of the check's own, which tell its cases apart: wait_policy

    def __post_init__(self):
        self.metrics = self.metrics or metrics.default(self.kernels)

    @property
    def nights(self):
        """A number for the night of each run."""
        return night_numbers(self.times)


def select(chunks, system, chosen, since=0.0, test='stream', widest=math.inf):
    """([Samples], problems) of one test on one system, a key each.

    `chosen` is (partition, environ, pinning), None where any will do; a record that ReFrame does
    not name takes all three from it.  A run whose own interval is wider than `widest`, a
    fraction, says nothing of a tolerance that has to be narrower.
    """
    units, problems, seen, names = defaultdict(list), [], set(), {}
    for records, bad in chunks:
        problems += [p for p in bad if not isinstance(p, MeasuredNothing)]
        for r in records:
            key = _key(r, system, chosen, test)
            if key and r.time >= since and r.identity not in seen:
                seen.add(r.identity)
                units[key].append(r)
                names[key] = tuple(_parameters(r))
    return [
        _samples(k, names[k], _of_nodes(rows), widest) for k, rows in sorted(units.items())
    ], problems


def _parameters(record):
    return own_parameters(record.traits.get('parameters', ''))


def _of_nodes(records):
    """[(one record per node and run, with the rates of the whole node; those of its ranks)]."""
    runs = [run for of_host in by_host(records).values() for run in split_runs(of_host)]
    usual = usual_ranks(runs)
    return [(_whole(run, usual), run) for run in runs]


def _whole(run, usual):
    """A node that lost a rank, or has an INVALID one, gives no figure."""
    if len(run) == usual == 1:
        return run[0]
    invalid = next((r.invalid for r in run if r.invalid), ())
    if len(run) != usual:
        invalid = ('incomplete',)
    allowed = next((r.allowed for r in run if r.allowed), ())
    rates = rates_of(run)
    measured = tuple(m for m in run[0].metrics if m.name in rates)
    spans = intervals.of_node(run)
    steadiness = min(r.steadiness for r in run)
    return replace(run[0], rates=rates, metrics=measured, invalid=invalid, allowed=allowed,
                   spans=spans, steadiness=steadiness)  # fmt: skip


def _key(record, system, chosen, test):
    named = tuple(record.traits.get(n) for n in ('partition', 'environ', 'pinning'))
    if 'test' not in record.traits and all(chosen):
        named = (_full(chosen[0], system), *chosen[1:])
    if record.traits.get('test', test) != test or not all(named):
        return None
    wanted = (_full(chosen[0], system), *chosen[1:])
    fits = all(w in (None, n) for w, n in zip(wanted, named, strict=True))
    if not fits or named[0].split(':')[0] != system:
        return None
    return (*named, *_parameters(record).values())


def _full(partition, system):
    return f'{system}:{partition}' if partition and ':' not in partition else partition


def _samples(key, parameters, runs, widest):
    now = time.time()
    why = [_unfit(r, now, widest) for r, _ in runs]
    left = Counter(filter(None, why))
    fit = [run for run, unfit in zip(runs, why, strict=True) if not unfit]
    of_newest = _of_newest_build([r for r, _ in fit], left)
    usable = [r for (r, _), newest in zip(fit, of_newest, strict=True) if newest]
    if not usable:
        return Samples(key, left=left, parameters=parameters)
    return Samples(
        key,
        kernels=tuple(usable[0].rates),
        metrics=usable[0].metrics,
        nodes=[r.host for r in usable],
        times=[r.time for r in usable],
        rates=np.array([list(r.rates.values()) for r in usable]),
        ranks=_by_rank([run for (_, run), newest in zip(fit, of_newest, strict=True) if newest],
                       tuple(usable[0].rates)),
        steady=np.array([r.steadiness for r in usable]),
        left=left,
        fingerprint=_fingerprint(usable),
        parameters=parameters,
    )  # fmt: skip


def _by_rank(runs, kernels):
    """Rates, runs x ranks x kernels, ranks as they lie in the node; None where there is one."""
    if len(runs[0]) == 1:
        return None
    in_place = (sorted(run, key=lambda r: (r.domain, r.rank)) for run in runs)
    return np.array([[[r.rates[k] for k in kernels] for r in run] for run in in_place])


def _unfit(record, now, widest):
    if record.invalid:
        return f'INVALID: {record.invalid[0].split(" (")[0]}'
    if record.allowed:
        return f'VALID only because --allow named {record.allowed[0]}'
    if record.traits.get('kernels_set', STANDARD) != STANDARD:
        return (
            f'kernels_set {printable(record.traits["kernels_set"])}: a reference is of {STANDARD}'
        )
    if intervals.half_width(record.rates, record.spans) > widest:
        return f'measured again, it might read more than {widest:.0%} off'
    if record.time > now + CLOCK_SLACK_S:
        return 'dated in the future'
    return None if record.time else 'without a date'


def _of_newest_build(records, left):
    """Which are of it."""
    newest = max(records, key=lambda r: r.time, default=None)
    wanted, is_alike = newest and (_build(newest), newest.metrics), {}
    for key, (r, _) in _settings(records).items():
        is_alike[key] = (_build(r), r.metrics) == wanted
    alike = [is_alike[r.setting, r.metrics] for r in records]
    if not all(alike):
        others = len(alike) - sum(alike)
        left['of another build, kind, array size or number of threads'] += others
    return alike


def _settings(records):
    """{what was made and measured alike: (one record of it, how many)}: few, of millions."""
    of_key = {(r.setting, r.metrics): r for r in records}
    counts = Counter((r.setting, r.metrics) for r in records)
    return {key: (record, counts[key]) for key, record in of_key.items()}


def _build(record):
    made = without_build_path(record.provenance)
    return tuple(made.get(f) for f in BUILD) + tuple(record.traits.get(f) for f in KIND)


def _fingerprint(records):
    """{'software': {field: value}, 'hardware': ...}; several values: how many runs had which."""
    made = [({**without_build_path(r.provenance), 'cpu_model': r.traits.get('cpu_model')}, n)
            for r, n in _settings(records).values()]  # fmt: skip
    return {'software': _values(made, SOFTWARE), 'hardware': _values(made, HARDWARE)}


def _values(made, fields):
    values = {}
    for name in fields:
        counts = Counter()
        for facts, runs in made:
            counts.update({facts[name]: runs} if facts.get(name) else ())
        if len(counts) == 1:
            values[name] = next(iter(counts))
        elif counts:
            values[name] = ', '.join(
                f'{value} ({plural(n, "run")})' for value, n in counts.most_common()
            )
    return values
