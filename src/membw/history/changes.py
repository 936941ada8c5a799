"""What changed in a table of results: nodes, each without what all nodes did that night; fleets.

A night's figure of a node is the median of its valid runs. Of three nodes and more the median of
the nodes, each as a part of the median of its own first 14 nights, is what the fleet did that
night: it is a series of its own, and is taken off the nodes'. The medians that are printed are
figures of records: lower medians of the node's own figures, of the fleet those of its median node.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from statistics import median_low
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.history.nights import Nights, Series
from membw.printable import amount, signed
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

MARGIN = 0.02
FLEET_MARGIN = 0.01  # the median of many scatters less than a node
LEAST_FLEET = 3  # nodes; of fewer, the figures stand as they are
FLEET = 'fleet'
SAME_DAYS = 3  # changes that begin so close to each other are one line
SILENT = 7  # nights: a node of a busy fleet is measured so often (`membw campaign --within 7d`)


class Change(NamedTuple):
    """A change of some metrics, of one or several nodes; figures are of the first metric."""

    nodes: tuple[str, ...]  # (FLEET,): what all nodes did
    name: str  # 'thin:node stream gcc-o2 omp'
    night: str  # the first that differs
    found: str  # the night in which the rule found it
    metrics: tuple[str, ...]
    size: float  # of a node: (after / before) / (1 + fleet) - 1
    of: str  # the one of the nodes whose medians these are
    nights: int  # of `before`
    before: float  # medians, in `unit`
    after: float
    fleet: float  # what all nodes did meanwhile, a fraction
    unit: str
    limit: float
    deviation: float
    of_medians: float
    is_worse: bool
    back: str  # the night since which the level is that of before, for 7 nights and more; ''
    cause: str  # "code_sha256 'a', before 'b'": what was run with changed in that night
    acknowledged: str = ''
    kind: str = STEP

    @property
    def is_red(self) -> bool:
        """For the worse, not back, not acknowledged."""
        return self.is_worse and not self.back and not self.acknowledged

    @property
    def line(self) -> str:
        """'2026-08-01 n042 STEP -3.1% triad (..): median of the 28 nights before 166.6 GB/s, ..',
        with the numbers to recompute it."""
        is_fleet = self.nodes == (FLEET,)
        who = FLEET if is_fleet else fold(self.nodes)
        one = 'the median node' if is_fleet else self.of
        whose = f'of {one} ' if is_fleet or self.nodes[1:] else ''
        earlier, later, limit = f'{self.nights} nights before', 'first 7 nights', '2 deviations'
        of_medians = f', 4 x {self.of_medians:.2%} of medians of 7'
        if self.kind != STEP:
            of_medians = ''
        if self.kind == DRIFT:
            earlier, later = f'first {self.nights} nights', f'newest {self.nights}'
        if self.kind == TONIGHT:
            later, limit = 'newest', f'{self.limit / self.deviation:.1f} deviations'
        parts = [
            f'{self.night} {who} {self.kind} {self.size:+.1%} {" ".join(self.metrics)} '
            f'({self.name}): median {whose}of the {earlier} {amount(self.before, 5)} '
            f'{self.unit}, of the {later} {amount(self.after, 5)}',
            f'all nodes meanwhile {signed(self.fleet, "+.1%")}' if self.fleet else '',
            f'limit {self.limit:.1%}: {limit} of {self.deviation:.2%}{of_medians}, or the margin',
            self.cause,
            f'back since {self.back}' if self.back else '',
            f'acknowledged: {self.acknowledged}' if self.acknowledged else '',
        ]
        return '; '.join(filter(None, parts))


class Noticed(NamedTuple):
    """The smallest lasting loss that would have been found on each node of a series."""

    name: str
    metric: str
    loss: float


def find_changes(nights: Nights) -> tuple[list[Change], list[Noticed]]:
    """All changes, in order of time, each once; of each series that was judged what would have
    been one."""
    found, seen = [], []
    newest = nights.newest_days()
    for series in nights.series():
        # TONIGHT is of what is still measured
        recent = newest[series.figure.setting.system] - SILENT
        begin = sum(days(night) < recent for night in series.nights)
        every = [*_of_series(series, nights, begin)]
        found += [change for changes, _ in every for change in changes]
        if losses := [loss for _, own in every for loss in own]:
            seen.append(Noticed(series.figure.setting.name, series.figure.metric, max(losses)))
    return sorted(_merged(found), key=lambda c: (c.night, c.name, c.nodes)), seen


Found = tuple[list[Change], list[float]]  # and the losses that would have been found


def _of_series(series: Series, nights: Nights, recent: int) -> Iterator[Found]:
    if len(series.nodes) < LEAST_FLEET:
        yield _of_rows(series, nights, recent, series.values)
        return
    own, fleet = _fleet(series.values)
    yield _of_rows(series, nights, recent, own[None, :], is_fleet=True)
    yield _of_rows(series, nights, recent, series.values / fleet, fleet)


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


def _of_rows(
    series: Series,
    nights: Nights,
    recent: int,
    parts: NDArray,
    fleet: NDArray | None = None,
    is_fleet: bool = False,
) -> Found:
    """`parts`: names x nights; `recent`: the first night that may be TONIGHT; `fleet`: what was
    taken off them."""
    names, margin = ([FLEET], FLEET_MARGIN) if is_fleet else (series.nodes, MARGIN)
    places = [np.flatnonzero(~np.isnan(part)) for part in parts]
    worse = -1 if series.figure.better == HIGHER else 1
    rows = [Row(part[own], own, worse) for part, own in zip(parts, places, strict=True)]
    noise = find_steps(rows, margin)
    found = []
    for name, row in zip(names, rows, strict=True):
        ends = [*row.levels[1:], len(row.values)]
        levels = zip(row.levels, ends, strict=True)
        steps = [*row.steps, *(drift(row.values[:end], begin, margin) for begin, end in levels)]
        if len(row.nights) and row.nights[-1] >= recent:
            steps.append(tonight(row, MARGIN, len(rows)))
        found += [_change(series, nights, name, row, step, fleet) for step in steps if step]
    return found, noticed(rows, margin, noise)


def _change(
    series: Series, nights: Nights, name: str, row: Row, step: Step, fleet: NDArray | None
) -> Change:
    earlier, later = (row.nights[list(at)] for at in (step.nights_before, step.nights_after))
    before, after = (_median(series, name, at) for at in (earlier, later))
    moved, figure = 0.0, series.figure
    if fleet is not None:
        moved = float(np.median(fleet[later]) / np.median(fleet[earlier]) - 1)
    back, last = step.back, row.values[-NOW:] / step.before - 1
    if step.kind != TONIGHT and back is None and abs(np.median(last)) <= step.limit / BACK:
        back = int(np.argmax(np.abs(last) <= step.limit / BACK)) - NOW
    night = row.nights[step.first]
    return Change(
        (name,), figure.setting.name, series.nights[night], series.nights[row.nights[step.found]],
        (figure.metric,), step.size if name == FLEET else float(after / before / (1 + moved) - 1),
        name, len(earlier), before, after, moved, figure.unit, step.limit, step.deviation,
        step.of_medians, (step.size < 0) == (figure.better == HIGHER),
        '' if back is None else series.nights[row.nights[back]],
        '' if step.kind == DRIFT else _cause(series, nights, name, night), kind=step.kind,
    )  # fmt: skip


def _median(series: Series, name: str, places: NDArray) -> float:
    """The figure of a record: of the node in its median night, of the fleet's median node."""
    if name != FLEET:
        return median_low(series.values[series.nodes.index(name), places].tolist())
    by_night = series.values[:, places].T
    return median_low([median_low(of[~np.isnan(of)].tolist()) for of in by_night])


def _cause(series: Series, nights: Nights, name: str, night: int) -> str:
    """What changed in the build or run of the node, of most nodes, in that night."""
    rows = series.builds if name == FLEET else [series.builds[series.nodes.index(name)]]
    pairs: Counter[tuple[int, int]] = Counter()
    for builds in rows:
        known = np.flatnonzero(builds >= 0)
        earlier, later = known[known < night], known[known >= night]
        if len(earlier) and len(later):
            pairs[builds[earlier[-1]], builds[later[0]]] += 1
    texts: Counter[str] = Counter()
    for (one, other), count in pairs.items():
        facts = provenance.difference(nights.provenances[one], nights.provenances[other])
        texts[provenance.first_change(facts)] += count
    return texts.most_common(1)[0][0] if texts else ''


def _merged(found: list[Change]) -> list[Change]:
    """Metrics of one node, then nodes, that changed in the same nights."""
    for one in (lambda c: c.nodes, lambda c: c.nodes == (FLEET,)):
        groups: dict[tuple, list[list[Change]]] = defaultdict(list)
        for change in sorted(found, key=lambda c: c.night):
            of_key = groups[one(change), change.name, change.kind, change.is_worse]
            is_near = of_key and days(change.night) - days(of_key[-1][0].night) <= SAME_DAYS
            if is_near or (of_key and change.kind == DRIFT):  # which has no one night
                of_key[-1].append(change)
            else:
                of_key.append([change])
        found = [_join(group) for of_key in groups.values() for group in of_key]
    return found


def _join(group: list[Change]) -> Change:
    """One line: of one node its largest change, of several the node in the middle."""
    ordered = sorted(group, key=lambda c: c.size)
    is_one = len({c.nodes for c in group}) == 1
    first = max(group, key=lambda c: abs(c.size)) if is_one else ordered[len(group) // 2]
    nodes = tuple(sorted({node for c in group for node in c.nodes}))
    metrics = tuple(dict.fromkeys([*first.metrics, *(m for c in group for m in c.metrics)]))
    back = max(c.back for c in group) if all(c.back for c in group) else ''
    return first._replace(nodes=nodes, metrics=metrics, back=back)


def days(night: str) -> int:
    """'2026-11-21' as a number of days; ValueError where it is no date."""
    return date.fromisoformat(night).toordinal()
