"""The runs that a reference may be taken from, and those that may not, with the reason."""

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from membw.plural import plural
from membw.printable import printable
from membw.results import intervals, metrics
from membw.results.case import own_parameters
from membw.results.provenance import without_build_path
from membw.results.reframe import MeasuredNothing
from membw.results.runs import by_host, rates_of, split_runs, usual_ranks
from membw.statistics.nights import night_numbers

# A reference belongs to one kind of node and of program, which are those of most runs ...
KIND = ('cpu_model', 'program', 'language', 'element_bytes')
# ... and to one build and one way to run, which are those of the newest run ...
BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'array_size', 'threads')
# ... what differs here is told in the fingerprint.
SOFTWARE = ('language', 'element_bytes', *BUILD, 'version', 'spack_hash', 'built_with',
            'kernel_release', 'thp', 'numa_balancing', 'governor', 'pages')  # fmt: skip
STANDARD = 'standard'  # kernels_set; what Tuned loops reach is no reference of the check
CLOCK_SLACK_S = 3600  # a node's clock may be so far ahead of ours
MOST_ODD = 0.10  # of the runs may be of another kind, and are left out; more are another system
LONGEST = 40  # value of a field that is shown
# what tells which key a run belongs to
SAID = ('partition', 'environ', 'pinning', 'test', 'parameters')
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
    mixed: str = ''  # what the runs are of two kinds of: no reference

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
            said = tuple(map(r.traits.get, SAID))
            key, parameters = _key(said, system, chosen, test)
            if key and r.time >= since and r.identity not in seen:
                seen.add(r.identity)
                units[key].append(r)
                names[key] = parameters
    return [
        _samples(k, names[k], _of_nodes(rows), widest) for k, rows in sorted(units.items())
    ], problems


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


@lru_cache
def _key(said, system, chosen, test):
    """(key, names of its parameters) of what records say; (None, ()): they are not asked for."""
    *named, of, parameters = said
    parameters = own_parameters(parameters or '')
    if of is None and all(chosen):
        named = (_full(chosen[0], system), *chosen[1:])
    if (test if of is None else of) != test or not all(named):
        return None, ()
    wanted = (_full(chosen[0], system), *chosen[1:])
    fits = all(w in (None, n) for w, n in zip(wanted, named, strict=True))
    if not fits or named[0].split(':')[0] != system:
        return None, ()
    return (*named, *parameters.values()), tuple(parameters)


def _full(partition, system):
    return f'{system}:{partition}' if partition and ':' not in partition else partition


def _samples(key, parameters, runs, widest):
    now = time.time()
    why = [_unfit(r, now, widest) for r, _ in runs]
    left = Counter(filter(None, why))
    fit = [run for run, unfit in zip(runs, why, strict=True) if not unfit]
    kinds = _Kinds([r for r, _ in fit])
    mixed = kinds.of_most(left)
    if not mixed:
        kinds.of_newest_build(left)
    usable = [run for run, kind in zip(fit, kinds.of_run, strict=True) if kind in kinds.runs]
    if not usable:
        return Samples(key, left=left, parameters=parameters)
    records = [r for r, _ in usable]
    if mixed:
        return Samples(key, left=left, parameters=parameters, mixed=mixed)
    return Samples(
        key,
        kernels=tuple(records[0].rates),
        metrics=records[0].metrics,
        nodes=[r.host for r in records],
        times=[r.time for r in records],
        rates=np.array([list(r.rates.values()) for r in records]),
        ranks=_by_rank([run for _, run in usable], tuple(records[0].rates)),
        steady=np.array([r.steadiness for r in records]),
        left=left,
        fingerprint=kinds.fingerprint(),
        parameters=parameters,
    )


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


class _Kinds:
    """Runs of what was made and measured alike: few kinds, of millions of runs."""

    def __init__(self, records):
        self.records = records
        self.of_run = [(r.setting, r.metrics) for r in records]
        self.one = dict(zip(self.of_run, records, strict=True))  # a record of each kind
        self.runs = Counter(self.of_run)  # of the kinds that count

    def of_most(self, left):
        """Leaves out the few that are of another kind of node or program than most; a text where
        they are many."""
        facts = {kind: _kind_of(record) for kind, record in self.one.items()}
        for name in dict.fromkeys(n for each in facts.values() for n in each):
            values = Counter()
            for kind, runs in self.runs.items():
                values[facts[kind].get(name)] += runs
            del values[None]  # not recorded
            if len(values) < 2:
                continue
            usual, most = values.most_common(1)[0]
            if values.total() - most > MOST_ODD * values.total():
                return f'{name}: ' + ', '.join(
                    f'{_shown(v)} ({plural(n, "run")})' for v, n in values.most_common()
                )
            for kind in [k for k in self.runs if facts[k].get(name) not in (None, usual)]:
                text = f'{name} {_shown(facts[kind][name])}, not {_shown(usual)} as most'
                left[text] += self.runs.pop(kind)
        return ''

    def of_newest_build(self, left):
        """Leaves out the runs of any other."""
        counted = (r for r, kind in zip(self.records, self.of_run, strict=True)
                   if kind in self.runs)  # fmt: skip
        newest = max(counted, key=lambda r: r.time, default=None)
        for kind in list(self.runs):
            differs = _differing(self.one[kind], newest)
            if differs:
                left[f'of another build or run than the newest: {differs}'] += self.runs.pop(kind)

    def fingerprint(self):
        """{'software': {field: value}, 'hardware': ...}; several: how many runs had which."""
        made = [({**without_build_path(self.one[kind].provenance), **_kind_of(self.one[kind])}, n)
                for kind, n in self.runs.items()]  # fmt: skip
        return {'software': _values(made, SOFTWARE), 'hardware': _values(made, HARDWARE)}


def _kind_of(record):
    """Of the figures of a report whose record is gone nobody knows but the units."""
    units = {f'units of {metric.name}': metric.unit for metric in record.metrics}
    if record.traits.get('cpu_model') == record.traits.get('partition'):  # results/reframe.py
        return units
    return {name: record.traits.get(name) for name in KIND} | units


def _differing(record, other):
    """'compiler gcc 11.4.0, not gcc 12.2.0': each field that differs; '' where none does."""
    here, there = (without_build_path(r.provenance) for r in (record, other))
    texts = [
        f'{name} {_shown(here.get(name))}, not {_shown(there.get(name))}'
        for name in BUILD
        if here.get(name) != there.get(name)
    ]
    if record.metrics != other.metrics:
        names = (' '.join(m.name for m in r.metrics) for r in (record, other))
        texts.append('measured {}, not {}'.format(*names))
    return '; '.join(texts)


def _shown(value):
    text = printable(str('not recorded' if value is None else value))
    return text if len(text) <= LONGEST else f'{text[: LONGEST - 3]}...'


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
