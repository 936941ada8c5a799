"""What changed in a table of results: nodes, each without what all nodes did that night; fleets.

A night's figure of a node is the median of its valid runs. Of three nodes and more the median of
the nodes, each as a part of the median of its own first 14 nights, is what the fleet did that
night: it is a series of its own, and is taken off the nodes'. The medians that are printed are
figures of records: lower medians of the node's own figures, of the fleet those of its median node.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from statistics import median_low
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.grouped import grouped
from membw.history.nights import Nights, Series
from membw.printable import amount, at_most, signed
from membw.results import provenance
from membw.results.hostlist import fold
from membw.results.record import HIGHER
from membw.statistics.now_and_before import (
    BACK,
    DRIFT,
    LEAST,
    NOW,
    STEP,
    TONIGHT,
    Row,
    Step,
    drift,
    find_steps,
    noticed,
    tonight,
)

NEW, BEGAN, ENDED = 'NEW', 'BEGAN', 'ENDED'
# {kind: the nights that are compared}
COMPARED = {
    STEP: ('{} nights before', 'first 7 nights'),
    TONIGHT: ('{} nights before', 'newest'),
    DRIFT: ('first {} nights', 'newest {}'),
    BEGAN: ('last {} nights before', 'newest of {since} since'),
    NEW: ('', '{since} of 14 nights, not judged yet'),
    ENDED: ('', 'no figure since'),
}
MARGIN = 0.02
FLEET_MARGIN = 0.01  # the median of many scatters less than a node
LEAST_FLEET = 3  # nodes; of fewer, the figures stand as they are
FLEET = 'fleet'
SAME_DAYS = 3  # changes that begin so close to each other are one line
SILENT = 7  # nights: a node of a busy fleet is measured so often (`membw campaign --within 7d`)
MOST_NAMES = 2  # of settings that changed alike


Facts = tuple[tuple[str, str, str], ...]  # (field, before, now)


class Change(NamedTuple):
    """A change of some nodes. Its figures are of its first metric and setting, and of one node."""

    kind: str  # STEP, DRIFT, TONIGHT; NEW, BEGAN, ENDED: of series (ended.py)
    nodes: tuple[str, ...]  # (FLEET,): what all nodes did
    names: tuple[str, ...]  # 'thin:node stream gcc-o2 omp': of settings
    night: str  # the first that differs; of ENDED the last one
    metrics: tuple[str, ...] = ()  # of NEW and ENDED none, nor figures
    size: float = 0.0  # of a node: (after / before) / (1 + fleet) - 1
    of: str = ''  # the one of the nodes whose medians these are
    nights: int = 0  # of `before`
    before: float = 0.0  # medians, in `unit`
    after: float = 0.0
    unit: str = ''
    fleet: float = 0.0  # what all nodes did meanwhile, a fraction
    limit: float = 0.0
    deviation: float = 0.0
    of_medians: float = 0.0
    is_worse: bool = False
    back: str = ''  # the night since which the level is that of before, for 7 nights and more
    # of what was run with; of BEGAN of the two series
    differs: Facts = ()
    since: int = 0  # nights of what began
    acknowledged: str = ''

    @property
    def is_red(self) -> bool:
        """For the worse, not back, not acknowledged."""
        return self.is_worse and not self.back and not self.acknowledged

    @property
    def is_open(self) -> bool:
        """Nothing can be said of it, so far."""
        is_young = self.kind == ENDED or (self.kind == BEGAN and self.since < LEAST)
        return is_young and not self.is_red and not self.acknowledged

    @property
    def line(self) -> str:
        """'2026-08-01 n042 STEP -3.1% triad (..): median of the 28 nights before 166.6 GB/s, ..',
        with the numbers to recompute it."""
        earlier, later = (of.format(self.nights, since=self.since) for of in COMPARED[self.kind])
        is_fleet, said = FLEET in self.nodes, later
        words = [self.night, FLEET if is_fleet else fold(self.nodes), self.kind]
        if self.metrics:
            words += [f'{self.size:+.1%}', *self.metrics]
            of = 'of the median node ' if is_fleet else f'of {self.of} ' * bool(self.nodes[1:])
            said = f'median {of}of the {earlier} {amount(self.before, 5)} {self.unit}, of the '
            said += f'{later} {amount(self.after, 5)}'
        many = 2 if self.kind in (STEP, DRIFT) else self.limit / (self.deviation or 1)
        limits = ['the margin', f'{amount(many, 2)} robust deviations of {self.deviation:.2%}']
        limits += [f'4D, where D is {self.of_medians:.2%}'] * (self.kind == STEP)
        parts = [
            f'{" ".join(words)} ({", ".join(at_most([*self.names], MOST_NAMES))}): {said}',
            f'all nodes meanwhile {signed(self.fleet, "+.1%")}' if self.fleet else '',
            f'limit {self.limit:.1%}: the largest of {", ".join(limits)}' * bool(self.metrics),
            ', '.join(f"{name} '{new}', before '{old}'" for name, old, new in self.differs),
            f'back since {self.back}' * bool(self.back),
            f'acknowledged: {self.acknowledged}' * bool(self.acknowledged),
        ]
        return '; '.join(filter(None, parts))


class Noticed(NamedTuple):
    """The smallest lasting loss that would have been found on each node of a series."""

    loss: float
    metric: str
    name: str


def find_changes(nights: Nights) -> tuple[list[Change], list[Noticed]]:
    """All changes within series, in order of time, each once; of each series that was judged what
    would have been one."""
    found, seen = [], []
    # TONIGHT is of what is still measured
    recent = date.fromordinal(days(max(nights.nights)) - SILENT).isoformat()
    for series in nights.series():
        begin, losses = bisect_left(series.nights, recent), []
        for names, margin, values, fleet in _parts(series):
            worse = -1 if series.figure.better == HIGHER else 1
            places = [np.flatnonzero(~np.isnan(of)) for of in values]
            rows = [Row(of[own], own, worse) for of, own in zip(values, places, strict=True)]
            losses += noticed(rows, margin, find_steps(rows, margin))
            for name, row in zip(names, rows, strict=True):
                ends = [*row.levels[1:], len(row.values)]
                steps: list[Step | None] = [*row.steps]
                for level, end in zip(row.levels, ends, strict=True):
                    steps.append(drift(row.values[:end], level, margin))
                if len(row.nights) and row.nights[-1] >= begin:
                    steps.append(tonight(row, MARGIN, len(rows)))
                found += [
                    _change(series, nights, name, row, step, fleet) for step in steps if step
                ]
        if losses:
            seen.append(Noticed(max(losses), series.figure.metric, series.figure.setting.name))
    return merged(found), seen


def _parts(series: Series) -> Iterator[tuple[list[str], float, NDArray, NDArray]]:
    """(names, margin, names x nights, what all nodes did in each night and was taken off them)."""
    none = np.ones(len(series.nights))
    if len(series.nodes) < LEAST_FLEET:
        yield series.nodes, MARGIN, series.values, none
    else:
        own, fleet = _fleet(series.values)
        yield [FLEET], FLEET_MARGIN, own[None, :], none
        yield series.nodes, MARGIN, series.values / fleet, fleet


def _fleet(values: NDArray) -> tuple[NDArray, NDArray]:
    """(what all nodes did in each night, NaN of fewer than three nodes; the same, where those
    nights have that of the night before)."""
    is_known = ~np.isnan(values)
    is_first = is_known & (np.cumsum(is_known, axis=1) <= LEAST)
    own = np.nanmedian(np.where(is_first, values, np.nan), axis=1)
    fleet = np.nanmedian(values / own[:, None], axis=0)
    fleet[is_known.sum(axis=0) < LEAST_FLEET] = np.nan
    known = np.flatnonzero(~np.isnan(fleet))
    if not len(known):
        return fleet, np.ones(len(fleet))
    at = np.searchsorted(known, np.arange(len(fleet)), side='right') - 1
    return fleet, fleet[known[np.maximum(at, 0)]]


def _change(
    series: Series, nights: Nights, name: str, row: Row, step: Step, fleet: NDArray
) -> Change:
    earlier, later = (row.nights[list(at)] for at in (step.nights_before, step.nights_after))
    before, after = (_median(series, name, at) for at in (earlier, later))
    moved, figure = float(np.median(fleet[later]) / np.median(fleet[earlier]) - 1), series.figure
    back, last = step.back, row.values[-NOW:] / step.before - 1
    if step.kind != TONIGHT and back is None and abs(np.median(last)) <= step.limit / BACK:
        back = int(np.argmax(np.abs(last) <= step.limit / BACK)) - NOW
    night = row.nights[step.first]
    return Change(
        step.kind, (name,), (figure.setting.name,),
        series.nights[night], (figure.metric,),
        step.size if name == FLEET else float(after / before / (1 + moved) - 1),
        name, len(earlier), before, after, figure.unit, moved,
        step.limit, step.deviation, step.of_medians,
        is_worse=(step.size < 0) == (figure.better == HIGHER),
        back='' if back is None else series.nights[row.nights[back]],
        differs=() if step.kind == DRIFT else _cause(series, nights, name, night),
    )  # fmt: skip


def _median(series: Series, name: str, places: NDArray) -> float:
    """The figure of a record: of the node in its median night, of the fleet's median node."""
    if name != FLEET:
        return median_low(series.values[series.nodes.index(name), places].tolist())
    by_night = series.values[:, places].T
    return median_low([median_low(of[~np.isnan(of)].tolist()) for of in by_night])


def _cause(series: Series, nights: Nights, name: str, night: int) -> Facts:
    """What changed in the build or run of the node, of most nodes, in that night."""
    rows = series.builds if name == FLEET else [series.builds[series.nodes.index(name)]]
    causes: Counter[tuple] = Counter()
    for builds in rows:
        known = np.flatnonzero(builds >= 0)
        if 0 < (later := np.searchsorted(known, night)) < len(known):
            pair = (nights.provenances[of] for of in builds[known[later - 1 : later + 1]])
            facts = provenance.difference(*pair).items()
            causes[tuple((name, old[:60], new[:60]) for name, (old, new) in facts)[:1]] += 1
    return causes.most_common(1)[0][0] if causes else ()


def merged(found: Iterable[Change]) -> list[Change]:
    """In order of time: metrics of a node, then nodes, then settings that changed in the same
    nights are one."""
    alike: tuple[Callable[[Change], tuple], ...] = (
        lambda c: (c.nodes, c.names),
        lambda c: (FLEET in c.nodes, c.names),
        lambda c: (c.nodes,),
    )
    for of in alike:
        ordered = sorted(found, key=lambda c: c.night)
        kinds = grouped(
            ((*of(c), c.kind, c.is_worse, c.kind == BEGAN and c.differs), c) for c in ordered
        )
        found = [_join(group) for every in kinds.values() for group in _of_a_time(every)]
    return sorted(found, key=lambda c: (c.night, c.names, c.nodes))


def _of_a_time(changes: list[Change]) -> Iterator[list[Change]]:
    group: list[Change] = []
    for one in changes:
        is_far = group and days(one.night) - days(group[0].night) > SAME_DAYS
        if is_far and one.kind != DRIFT:  # which has no one night
            yield group
            group = []
        group.append(one)
    yield group


def _join(group: list[Change]) -> Change:
    """One line: of one node its largest change, of several the node in the middle."""
    ordered = sorted(group, key=lambda c: c.size)
    is_one = len({c.nodes for c in group}) == 1
    first = max(group, key=lambda c: abs(c.size)) if is_one else ordered[len(group) // 2]
    back = max(c.back for c in group) if all(c.back for c in group) else ''
    return first._replace(
        nodes=tuple(sorted({node for c in group for node in c.nodes})),
        names=tuple(dict.fromkeys([*first.names, *(x for c in group for x in c.names)])),
        metrics=tuple(dict.fromkeys([*first.metrics, *(x for c in group for x in c.metrics)])),
        back=back,
    )


def days(night: str) -> int:
    """'2026-11-21' as a number of days; ValueError where it is no date."""
    return date.fromisoformat(night).toordinal()
