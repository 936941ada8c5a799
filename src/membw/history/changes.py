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
from membw.results import provenance
from membw.results.record import HIGHER
from membw.statistics import now_and_before

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
    kind: str  # STEP or DRIFT
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
    return found + _of_rows(series, nights, series.nodes, parts / fleet, begins, MARGIN, fleet)


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
    of_medians = now_and_before.medians_apart(every)
    figure, found = series.figure, []
    pairs = zip(rows, begins, strict=True)
    samples = [np.searchsorted(row, sorted(own)).tolist() for row, own in pairs]
    all_changes = now_and_before.changes(every, margin, of_medians, samples)
    for name, values, row, changes in zip(names, every, rows, all_changes, strict=True):
        for change in changes:
            earlier, later = row[change.nights_before], row[list(change.nights_after)]
            before, after = (_median(series, name, at) for at in (earlier, later))
            moved = 0.0
            if fleet is not None:
                moved = float(np.median(fleet[later]) / np.median(fleet[earlier]) - 1)
            last = float(np.median(values[-now_and_before.NOW :]))
            night = row[change.first]
            is_drift = change.kind == now_and_before.DRIFT
            found.append(Change(
                (name,), figure.setting.name, change.kind, series.nights[night],
                series.nights[row[change.found]], (figure.metric,),
                change.size if name == FLEET else float(after / before / (1 + moved) - 1),
                name, len(earlier), before, after, moved, figure.unit,
                change.limit, change.deviation, of_medians,
                bool((change.size < 0) == (figure.better == HIGHER)),
                bool(abs(last / change.before - 1) <= change.limit),
                _cause(series, nights, name, earlier[0] if is_drift else night - 1, night),
            ))  # fmt: skip
    return found


def _median(series: Series, name: str, places: NDArray) -> float:
    """The figure of a record: of the node in its median night, of the fleet's median node."""
    if name != FLEET:
        return median_low(series.values[series.nodes.index(name), places].tolist())
    by_night = series.values[:, places].T
    return median_low([median_low(of[~np.isnan(of)].tolist()) for of in by_night])


def _cause(series: Series, nights: Nights, name: str, before: int, night: int) -> str:
    """What changed in the build or run of the node, of most nodes, between two nights."""
    rows = series.builds if name == FLEET else [series.builds[series.nodes.index(name)]]
    pairs: Counter[tuple[int, int]] = Counter()
    for builds in rows:
        known = np.flatnonzero(builds >= 0)
        earlier, later = known[known <= before], known[known >= night]
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
            if of_key and days(change.night) - days(of_key[-1][0].night) <= SAME_DAYS:
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
