"""What changed in a table of results: nodes, each without what all nodes did that night; fleets.

A night's figure of a node is the median of its valid runs, as a part of the node's own median. Of
three nodes and more the median of these parts is what the fleet did that night: it is a series of
its own, and is taken off the nodes'. The medians that are printed are figures of records: lower
medians of the node's own figures, of the fleet those of its median node.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from statistics import median_low
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.history.nights import Nights, Series
from membw.printable import amount, plural, signed
from membw.results import provenance
from membw.results.hostlist import fold
from membw.results.record import HIGHER
from membw.statistics.now_and_before import (
    DRIFT,
    LEAST_BEFORE,
    NOW,
    STEP,
    drift,
    medians_apart,
    steps,
)

LEAST = LEAST_BEFORE + NOW  # nights that a STEP needs
MARGIN = 0.02
FLEET_MARGIN = 0.01  # the median of many scatters less than a node
LEAST_FLEET = 3  # nodes; of fewer, the figures stand as they are
FLEET = 'fleet'
SAME_DAYS = 3  # changes that begin so close to each other are one line
ROLLING = 0.1  # a fact that changed on so many of the nodes in a night begins a sample of all


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
    is_back: bool  # the last 7 nights lie within the limit again
    cause: str  # "code_sha256 'a', before 'b'": what was run with changed in that night
    acknowledged: str = ''
    kind: str = STEP

    @property
    def is_red(self) -> bool:
        """For the worse, not back, not acknowledged."""
        return self.is_worse and not self.is_back and not self.acknowledged

    @property
    def line(self) -> str:
        """'2026-08-01 n042 STEP -3.1% triad (..): median of the 28 nights before 166.6 GB/s, ..',
        with the numbers to recompute it."""
        is_fleet = self.nodes == (FLEET,)
        who = FLEET if is_fleet else fold(self.nodes)
        one = 'the median node' if is_fleet else self.of
        whose = f'of {one} ' if is_fleet or self.nodes[1:] else ''
        earlier, later = f'{self.nights} nights before', 'first 7 nights'
        of_medians = f', 4 x {self.of_medians:.2%} of medians of 7'
        if self.kind != STEP:
            earlier, later, of_medians = f'first {self.nights} nights', f'{self.nights} nights', ''
        parts = [
            f'{self.night} {who} {self.kind} {self.size:+.1%} {" ".join(self.metrics)} '
            f'({self.name}): median {whose}of the {earlier} {amount(self.before, 5)} '
            f'{self.unit}, of the {later} {amount(self.after, 5)}',
            f'all nodes meanwhile {signed(self.fleet, "+.1%")}' if self.fleet else '',
            f'limit {self.limit:.1%}: 2 deviations of {self.deviation:.2%}{of_medians}, '
            'or the margin',
            self.cause,
            'back since' if self.is_back else '',
            f'acknowledged: {self.acknowledged}' if self.acknowledged else '',
        ]
        return '; '.join(filter(None, parts))


def verdict(nights: Nights, changes: Sequence[Change]) -> str:
    if nights.most < LEAST:
        return f'UNDECIDED: {plural(len(nights.nights), "night")}, {LEAST} are needed'
    worse = sum(change.is_red for change in changes)
    return f'{plural(worse, "change")} for the worse' if worse else 'nothing got worse'


def short_sample(nights: Nights) -> list[str]:
    """A line on the newest sample, while it is too short to be judged by itself."""
    night = max(nights.samples, default='')
    count = sum(name >= night for name in nights.nights)
    if not night or count >= LEAST:
        return []
    so_far = f'{night} {nights.samples[night]}: a new sample, {plural(count, "night")}'
    missing = f'{LEAST - count} missing until it is compared with itself'
    return [f'{so_far}, {missing}; --since {night} shows what changes from then on']


def find_changes(nights: Nights) -> list[Change]:
    """All changes, in order of time, each once."""
    found = [c for series in nights.series() for c in _of_series(series, nights)]
    return sorted(_merged(found), key=lambda c: (c.night, c.name, c.nodes))


def _of_series(series: Series, nights: Nights) -> list[Change]:
    parts = series.values / np.nanmedian(series.values, axis=1)[:, None]
    begins = [_begins(row, nights) for row in series.builds]
    if len(series.nodes) < LEAST_FLEET:
        return _of_rows(series, nights, series.nodes, parts, begins, MARGIN)
    fleet = np.nanmedian(parts, axis=0)
    changed = Counter(night for of_node in begins for night in of_node)
    rolling = {}
    for night in (n for n, count in changed.items() if count >= ROLLING * len(series.nodes)):
        texts = Counter(of_node[night] for of_node in begins if night in of_node)
        rolling[night] = nights.samples[series.nights[night]] = texts.most_common(1)[0][0]
    found = _of_rows(series, nights, [FLEET], fleet[None, :], [rolling], FLEET_MARGIN)
    parts /= fleet  # of a year of a large fleet no second array
    return found + _of_rows(series, nights, series.nodes, parts, begins, MARGIN, fleet)


def _begins(builds: NDArray, nights: Nights) -> dict[int, str]:
    """{night: what changed}: where a node's new samples begin."""
    known = np.flatnonzero(builds >= 0)
    if not len(known) or builds[known].min() == builds[known].max():
        return {}
    if not provenance.changes(nights.provenances[n] for n in np.unique(builds[known]).tolist()):
        return {}
    changes = provenance.changes(nights.provenances[build] for build in builds[known].tolist())
    return {int(known[at]): provenance.first_change(facts) for at, facts in changes.items()}


def _of_rows(
    series: Series,
    nights: Nights,
    names: Sequence[str],
    parts: NDArray,
    begins: Sequence[dict[int, str]],
    margin: float,
    fleet: NDArray | None = None,
) -> list[Change]:
    """`parts`: names x nights; `fleet`: what was taken off them."""
    rows = [np.flatnonzero(~np.isnan(row)) for row in parts]
    every = [part[row] for part, row in zip(parts, rows, strict=True)]
    of_medians = medians_apart(every)
    figure, found = series.figure, []
    pairs = zip(rows, begins, strict=True)
    samples = [np.searchsorted(row, sorted(own)).tolist() for row, own in pairs]
    all_steps = steps(every, margin, of_medians, samples)
    for name, values, row, of_name, begun in zip(
        names, every, rows, all_steps, samples, strict=True
    ):
        slow = drift(values, max([0, *(step.first for step in of_name), *begun]), margin)
        for step in [*of_name, *filter(None, [slow])]:
            earlier, later = row[step.nights_before], row[list(step.nights_after)]
            before, after = (_median(series, name, at) for at in (earlier, later))
            moved = 0.0
            if fleet is not None:
                moved = float(np.median(fleet[later]) / np.median(fleet[earlier]) - 1)
            last, night = float(np.median(values[-NOW:])), row[step.first]
            found.append(Change(
                (name,), figure.setting.name, series.nights[night],
                series.nights[row[step.found]], (figure.metric,),
                step.size if name == FLEET else float(after / before / (1 + moved) - 1),
                name, len(earlier), before, after, moved, figure.unit,
                step.limit, step.deviation, of_medians,
                bool((step.size < 0) == (figure.better == HIGHER)),
                bool(abs(last / step.before - 1) <= step.limit),
                _cause(series, nights, name, night) if step.kind == STEP else '',
                kind=step.kind,
            ))  # fmt: skip
    return found


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
    is_back = all(c.is_back for c in group)
    return first._replace(nodes=nodes, metrics=metrics, is_back=is_back)


def days(night: str) -> int:
    """'2026-11-21' as a number of days; ValueError where it is no date."""
    return date.fromisoformat(night).toordinal()
