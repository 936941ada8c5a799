"""From results to series: the rate of each metric, node and night, of runs that are alike."""

import time
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from membw.history import clocks, regimes
from membw.results import intervals, metrics
from membw.results.hostlist import fold
from membw.results.provenance import without_build_path
from membw.results.record import ASKED
from membw.results.reframe import MeasuredNothing
from membw.results.regimes import crossed, latency
from membw.results.runs import once, rates_of, split_runs

# Runs that differ here are never one series; what was built with what is not among them: a
# changed compiler is a change within the series.  ReFrame names the run, and keeps the name ...
NAMED = ('partition', 'test', 'environ', 'pinning', 'parameters')
# ... a record that is alone has to be told by what it says of itself.
ALONE = ('program', 'language', 'kernels_set', 'element_bytes', 'cpu_model', 'flags', 'pinning',
         *ASKED)  # fmt: skip
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
    wide: int = 0  # an interval far wider than those of the node's other runs
    crossed: int = 0  # a run between two states of the machine
    problems: list = field(default_factory=list)  # lines that could not be read
    not_judged: dict = field(default_factory=dict)  # why -> nodes
    misdated: dict = field(default_factory=dict)  # node -> date of its newest run that is none

    def gaps(self):
        """Lines on what the answer lacks, each of which makes the exit status 1."""
        nodes = (f'{fold(n)}: not judged, {why}' for why, n in self.not_judged.items())
        return [*self.problems, *nodes]


def as_date(day):
    """'2026-11-21' of days since 1970."""
    return (EPOCH + timedelta(days=int(day))).isoformat()


def as_day(text):
    """Days since 1970; ValueError when `text` is no date."""
    return (date.fromisoformat(text) - EPOCH).days


class Collector:
    """Takes records as they come and keeps of them what series need, tens of bytes each."""

    def __init__(self):
        self.groups, self.sources = defaultdict(Rows), []
        self.files = {}  # long ones: what pieces() knows of them
        self.alone = []  # one file a rank: the node's others come with other files

    def add(self, identity, records, problems):
        """What one source has."""
        nothing = sum(isinstance(p, MeasuredNothing) for p in problems)
        others = [p for p in problems if not isinstance(p, MeasuredNothing)]
        self.sources.append({'identity': identity, 'nothing': nothing, 'problems': others})
        if len(records) == 1 and records[0].ranks > 1:
            self.alone += records
        else:
            self._enter(once(records), len(self.sources) - 1)

    def series(self):
        """(every group of like runs, what was left out)."""
        self._enter(once(self.alone), len(self.sources))
        self.gather()
        self.alone, left = [], Left()
        left.nothing = sum(source['nothing'] for source in self.sources)
        left.problems = [p for source in self.sources for p in source['problems']]
        groups = [(key, rows, rows.columns(len(key[1]))) for key, rows in self.groups.items()]
        _meet_once([columns for *_, columns in groups])
        groups = map(_merged, _chains(groups))
        series = [s for key, rows, columns in groups for s in rows.series(key, columns, left)]
        series = [s for s in series if len(s.nights)]
        left.not_judged = clocks.not_judged(left.misdated, series)
        return series, left

    def gather(self):
        """What is stored and what is new, in one."""
        for rows in self.groups.values():
            rows.gather()

    def without(self, identities):
        """Forgets sources."""
        stays = np.array([s['identity'] not in identities for s in self.sources], dtype=bool)
        numbers = np.cumsum(stays) - 1
        self.sources = [s for s, stay in zip(self.sources, stays, strict=True) if stay]
        for (_, measured), rows in self.groups.items() if not stays.all() else ():
            rows.keep(stays, numbers, len(measured))

    def _enter(self, records, source):
        units = defaultdict(list)
        for r in records:
            names = NAMED if 'test' in r.traits else ALONE
            key = tuple(r.traits.get(n) for n in names), r.metrics, r.ranks
            units[key, r.host].append(r)
        for (key, host), of_node in units.items():
            for run in split_runs(of_node):
                self.groups[key[:2]].add(host, run, source)


def _chains(groups):
    """Lists of groups that follow each other: records without a name that differ in their flags
    alone are one series where one set of flags ends before the other begins."""
    chains = []
    for group in sorted(groups, key=lambda g: _span(g)[0]):
        fits = (c for c in chains if _follows(c[-1], group))
        chain = next(fits, None)
        chain.append(group) if chain else chains.append([group])
    return chains


def _span(group):
    """(first, last) day of a group's runs."""
    columns = group[2]
    days = columns['day'][columns['state'] != UNDATED]
    return (int(days.min()), int(days.max())) if len(days) else (0, 0)


def _follows(before, after):
    (names, measured), (later, measured_later) = before[0], after[0]
    apart = {n for n, one, two in zip(ALONE, names, later, strict=False) if one != two}
    is_alone = len(names) == len(later) == len(ALONE)
    alike = is_alone and measured == measured_later and apart == {'flags'}
    return alike and 0 < _span(before)[1] < _span(after)[0]


def _merged(chain):
    """(key, Rows, columns) of one series, named as its latest part is."""
    if len(chain) == 1:
        return chain[0]
    whole, parts = Rows(), []
    for _, rows, columns in chain:
        node = np.array([whole.nodes.setdefault(h, len(whole.nodes)) for h in rows.nodes])
        made = np.array([whole.number_of(made) for made in rows.provenances])
        parts.append(columns | {'node': node[columns['node']], 'made': made[columns['made']]})
    return chain[-1][0], whole, {n: np.concatenate([p[n] for p in parts]) for n in parts[0]}


def _meet_once(groups):
    """A run may be met in a database, a report and a file of its own: the first counts."""
    keys = np.concatenate([g['key'] for g in groups]) if groups else np.zeros(0, np.uint64)
    rising = np.sort(keys)
    if (rising[1:] != rising[:-1]).all():
        return
    sources = np.concatenate([g['source'] for g in groups])
    order = np.lexsort((np.arange(len(keys)), sources, keys))
    again = np.zeros(len(keys), dtype=bool)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    begin = 0
    for g in groups:
        g['again'] = again[begin : begin + len(g['key'])]
        begin += len(g['key'])


VALID, INVALID, UNDATED = range(3)
COLUMNS = {
    'node': 'i', 'day': 'i', 'made': 'i', 'ranks': 'i', 'source': 'i', 'state': 'b', 'key': 'Q',
    'half': 'f', 'pair': 'f', 'rates': 'f',
}  # fmt: skip
CROSSED = -1  # in place of a latency


class Rows:
    """Compact rows of one group, a run each, as they come: millions of them."""

    def __init__(self):
        self.nodes, self.software, self.provenances = {}, {}, []
        self.stored = {}  # {name: numbers} of those before, and of all by gather()
        self.table = {name: array(kind) for name, kind in COLUMNS.items()}

    def add(self, host, run, source):
        first, table = run[0], self.table
        dated = all(r.time for r in run)
        table['node'].append(self.nodes.setdefault(host, len(self.nodes)))
        table['day'].append(int(first.time // DAY_S) if dated else 0)
        table['made'].append(self.number_of(first.provenance | {'ranks': str(len(run))}))
        table['ranks'].append(len(run))
        table['source'].append(source)
        state = INVALID if any(r.invalid for r in run) else VALID
        table['state'].append(state if dated else UNDATED)
        table['key'].append(sum(r.identity for r in run) % 2**64)
        rates, spans = rates_of(run), intervals.of_node(run)
        table['half'].append(intervals.half_width(rates, spans))
        rates = intervals.known(rates, spans) if spans else rates
        table['pair'].append(CROSSED if crossed(first.pair) else latency(first.pair))
        table['rates'].extend(rates.get(m.name, 0.0) for m in first.metrics)

    def number_of(self, made):
        """Of this software in `provenances`."""
        software = tuple(made.items())
        if software not in self.software:
            plain = without_build_path(made)
            if plain not in self.provenances:
                self.provenances.append(plain)
            self.software[software] = self.provenances.index(plain)
        return self.software[software]

    def gather(self):
        for name, kind in COLUMNS.items():
            new, self.table[name] = np.frombuffer(self.table[name], kind), array(kind)
            if name not in self.stored:  # no copy: this may be most of the memory
                self.stored[name] = new
            elif len(new):
                self.stored[name] = np.concatenate([self.stored[name], new])

    def columns(self, kernels):
        """{name: numbers of all rows}."""
        again = np.zeros(len(self.stored['key']), dtype=bool)
        return self.stored | {'rates': self.stored['rates'].reshape(-1, kernels), 'again': again}

    def keep(self, stays, numbers, kernels):
        self.gather()
        columns = self.columns(kernels)
        rows = stays[columns['source']]
        columns['source'] = numbers[columns['source']].astype(np.intc)
        self.stored = {name: columns[name][rows].ravel() for name in COLUMNS}

    def series(self, key, columns, left):
        names, measured = key
        once, state = ~columns['again'], columns['state']
        undated = once & ((state == UNDATED) | (columns['day'] < clocks.BATTERY_GONE))
        future = once & (columns['day'] > self._last_day(columns))
        valid = once & (state == VALID) & ~future & ~undated
        left.invalid += int((once & (state == INVALID)).sum())
        left.undated += int(undated.sum())
        left.future += int(future.sum())
        left.misdated |= self._dates(columns, future | undated)
        runs = _only(columns, valid)
        whole = _whole(*(runs[name] for name in ('node', 'day', 'ranks')))
        left.incomplete += int((~whole).sum())
        runs = _only(runs, whole)
        narrow = _narrow(runs['node'], runs['half'])
        left.wide += int((~narrow).sum())
        runs = _only(runs, narrow)
        parts = regimes.parts(runs['node'], runs['day'], runs['pair'])
        left.crossed += len(runs['node']) - sum(int(rows.sum()) for _, rows in parts)
        label = ' '.join(str(n) for n in names if n is not None) or 'runs'
        return [self._of_regime(label + more, measured, _only(runs, rows)) for more, rows in parts]

    @staticmethod
    def _last_day(columns):
        return clocks.last_day(columns['node'], columns['day'], int(time.time() // DAY_S))

    def _dates(self, columns, rows):
        """{node: date of the newest of these rows}; '' without one."""
        dates, hosts = {}, list(self.nodes)
        for i in np.flatnonzero(rows):
            date = as_date(columns['day'][i]) if columns['state'][i] != UNDATED else ''
            node = hosts[columns['node'][i]]
            dates[node] = max(dates.get(node, ''), date)
        return dates

    def _of_regime(self, label, measured, runs):
        nights, column = _numbered(runs['day'])
        there, node = _numbered(runs['node'])
        hosts = list(self.nodes)
        shape = len(there), len(nights)
        cell = column * np.int64(shape[0]) + node  # runs come night by night, and so they go
        return Series(
            label=label,
            kernels=tuple(m.name for m in measured),
            metrics=measured,
            nodes=[hosts[n] for n in there],
            nights=nights,
            rates=_tables(cell, runs['rates'], runs['half'], shape),
            software=_latest(cell, runs['made'], shape),
            provenances=self.provenances,
        )


FAR_WIDER, WIDE = 3, 0.10  # than the node's other runs, and than matters


def _narrow(node, half):
    """All but the runs that know far less than the others of their node."""
    narrow = half <= WIDE
    if narrow.all():
        return narrow
    places, usual = intervals.weighted_medians(half, np.ones(len(half)), node)
    return narrow | (half <= FAR_WIDER * usual[np.searchsorted(places, node)])


def _only(columns, rows):
    """Of each column these rows; mostly they are all."""
    if rows.all():
        return columns
    return {name: values[rows] for name, values in columns.items()}


def _numbered(numbers):
    """The numbers (days, nodes) that occur, and the place of each figure's among them."""
    if not len(numbers):
        return numbers, numbers
    first = numbers.min()
    occurs = np.bincount(numbers - first) > 0
    return np.flatnonzero(occurs) + first, (np.cumsum(occurs) - 1)[numbers - first]


LASTING = 3  # nights in a row with fewer ranks than the others: that is how the node is now


def _whole(node, day, ranks):
    """A node that lost a rank in a night did not report in full: that is no slower node.

    In full is what most runs of that night have.
    """
    if not len(ranks) or (ranks == ranks[0]).all():
        return np.ones(len(ranks), dtype=bool)
    counts = Counter(zip(day.tolist(), ranks.tolist(), strict=True))
    usual = {}
    for (night, number), runs in counts.items():
        usual[night] = max(usual.get(night, (0, 0)), (runs, number))
    few = ranks < np.array([usual[night][1] for night in day.tolist()])
    order = np.lexsort((day, node))
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(node[order]) != 0) | (few[order][1:] != few[order][:-1])
    stretch = np.cumsum(begins) - 1
    lasts = np.bincount(stretch)[stretch] >= LASTING
    whole = np.empty(len(order), dtype=bool)
    whole[order] = ~few[order] | lasts
    return whole


def _tables(cell, rates, half, shape):
    """kernels x nodes x nights, of runs with the number of their cell, nights x nodes; where a
    cell has several runs their median, each with the weight of its interval."""
    cells = np.full((shape[0] * shape[1], rates.shape[1]), np.nan, rates.dtype)
    one = np.bincount(cell, minlength=len(cells))[cell] == 1
    if one.all():
        cells[cell] = rates
    else:
        cells[cell[one]] = rates[one]
        for k, values in enumerate(rates.T):
            several = ~one & ~np.isnan(values)
            places, medians = intervals.weighted_medians(
                values[several], intervals.weight(half[several]), cell[several]
            )
            cells[places, k] = medians
    by_night = cells.reshape(shape[1], shape[0], rates.shape[1])
    return np.ascontiguousarray(by_night.transpose(2, 1, 0))


def _latest(cell, made, shape):
    table = np.full(shape[0] * shape[1], -1, dtype=np.int32)
    table[cell] = made
    return np.ascontiguousarray(table.reshape(shape[1], shape[0]).T)
