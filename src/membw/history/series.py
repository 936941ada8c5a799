"""From results to series: the rate of each metric, node and night, of runs that are alike."""

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from membw.results import metrics
from membw.results.provenance import without_build_path
from membw.results.reframe import MeasuredNothing
from membw.results.runs import identity, rates_of, split_runs

# Runs that differ here are never one series; what was built with what is not among them: a
# changed compiler is a change within the series.  ReFrame names the run, and keeps the name ...
NAMED = ('partition', 'test', 'environ', 'pinning')
# ... a record that is alone has to be told by what it says of itself.
ALONE = ('program', 'language', 'kernels_set', 'element_bytes', 'cpu_model', 'flags', 'pinning')
DAY_S = 86400
EPOCH = date(1970, 1, 1)


@dataclass
class Series:
    """One group of like runs.  Nights are days since 1970 (UTC) that have a value."""

    label: str
    kernels: tuple
    nodes: list
    nights: np.ndarray
    rates: np.ndarray  # larger is better (results/metrics.py), kernels x nodes x nights; or NaN
    software: np.ndarray  # number in `provenances`, nodes x nights; -1: no value
    provenances: list
    metrics: tuple = ()  # of the kernels; bandwidths where nothing is said

    def __post_init__(self):
        self.metrics = self.metrics or metrics.default(self.kernels)

    def night(self, column):
        return as_date(self.nights[column])

    def figures(self, k):
        """As measured, nodes x nights."""
        return self.metrics[k].figure(self.rates[k])


@dataclass
class Left:
    """What did not enter, and why."""

    invalid: int = 0
    incomplete: int = 0
    undated: int = 0
    future: int = 0
    nothing: int = 0  # a test case without a figure
    problems: list = field(default_factory=list)


def as_date(day):
    """'2026-11-21' of days since 1970."""
    return (EPOCH + timedelta(days=int(day))).isoformat()


def as_day(text):
    """Days since 1970; ValueError when `text` is no date."""
    return (date.fromisoformat(text) - EPOCH).days


class Collector:
    """Takes records as they come and keeps of them what series need, tens of bytes each."""

    def __init__(self):
        self.groups, self.left, self.seen = defaultdict(Rows), Left(), set()
        self.alone = []  # one file a rank: the node's others come with other files

    def add(self, records, problems):
        nothing = [p for p in problems if isinstance(p, MeasuredNothing)]
        self.left.nothing += len(nothing)
        self.left.problems += [p for p in problems if not isinstance(p, MeasuredNothing)]
        fresh = [r for r in records if self._is_new(r)]
        if len(fresh) == 1 and fresh[0].ranks > 1:
            self.alone += fresh
        else:
            self._enter(fresh)

    def series(self):
        """Every group of like runs; what was left out is in `left`."""
        self._enter(self.alone)
        self.alone = []
        return [rows.series(key, self.left) for key, rows in self.groups.items() if rows.nodes]

    def _is_new(self, record):
        """The same record may be met in a database, a report and a file of its own."""
        key = identity(record)
        known = key in self.seen
        self.seen.add(key)
        return not known

    def _enter(self, records):
        units = defaultdict(list)
        for r in records:
            names = NAMED if 'test' in r.traits else ALONE
            key = tuple(r.traits.get(n) for n in names), r.metrics, r.ranks
            units[key, r.host].append(r)
        for (key, host), of_node in units.items():
            for run in split_runs(of_node):
                _add_run(self.groups[key[:2]], host, run, self.left)


def _add_run(rows, host, run, left):
    if not all(r.time for r in run):
        left.undated += 1
    elif any(r.invalid for r in run):
        left.invalid += 1
    else:
        rows.add(host, run)


class Rows:
    """Compact rows of one group, as they come: millions of them."""

    def __init__(self):
        self.nodes, self.software, self.provenances = {}, {}, []
        self.node, self.day, self.made = array('i'), array('i'), array('i')
        self.ranks, self.rates = array('i'), array('d')

    def add(self, host, run):
        first = run[0]
        made = without_build_path(first.provenance)
        key = tuple(made.items())
        if key not in self.software:
            self.software[key] = len(self.provenances)
            self.provenances.append(made)
        self.node.append(self.nodes.setdefault(host, len(self.nodes)))
        self.day.append(int(first.time // DAY_S))
        self.made.append(self.software[key])
        self.ranks.append(len(run))
        self.rates.extend(first.rates.values() if len(run) == 1 else rates_of(run).values())

    def series(self, key, left):
        names, measured = key
        node, day, made, ranks = (
            np.array(a, dtype=np.int64) for a in (self.node, self.day, self.made, self.ranks)
        )
        rates = np.frombuffer(self.rates).reshape(len(node), len(measured))
        # a node that lost a rank did not report in full: that is no slower node
        whole = ranks == Counter(ranks.tolist()).most_common(1)[0][0]
        left.incomplete += int((~whole).sum())
        nights, column = np.unique(day[whole], return_inverse=True)
        shape = len(self.nodes), len(nights)
        cell = node[whole] * shape[1] + column
        return Series(
            label=' '.join(str(n) for n in names if n is not None) or 'runs',
            kernels=tuple(m.name for m in measured),
            metrics=measured,
            nodes=list(self.nodes),
            nights=nights,
            rates=np.stack([_table(cell, r, shape) for r in rates[whole].T]),
            software=_latest(cell, made[whole], shape),
            provenances=self.provenances,
        )


def _table(cell, values, shape):
    """nodes x nights; the median where one night has several runs."""
    order = np.lexsort((values, cell))
    places, start, count = np.unique(cell[order], return_index=True, return_counts=True)
    low, high = start + (count - 1) // 2, start + count // 2
    table = np.full(shape[0] * shape[1], np.nan)
    table[places] = (values[order][low] + values[order][high]) / 2
    return table.reshape(shape)


def _latest(cell, made, shape):
    table = np.full(shape[0] * shape[1], -1, dtype=np.int32)
    table[cell] = made
    return table.reshape(shape)
