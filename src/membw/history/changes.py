"""What changed in a table of results: nodes, each without what all nodes did that night; fleets.

A night's figure of a node is the median of its valid runs, as a part of the node's own median. Of
three nodes and more the median of these parts is what the fleet did that night: it is a series of
its own, and is taken off the nodes'.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.history.nights import Nights, Series
from membw.results.provenance import difference
from membw.results.table import HIGHER, Figure
from membw.statistics import now_and_before

MARGIN = 0.02
FLEET_MARGIN = 0.01  # the median of many scatters less than a node
LEAST_FLEET = 3  # nodes; of fewer, the figures stand as they are
FLEET = 'fleet'
SAME_DAYS = 3  # changes that begin so close to each other are one line


class Change(NamedTuple):
    """A change of some metrics, of one or several nodes; figures are of the first metric."""

    nodes: tuple[str, ...]  # (FLEET,): what all nodes did
    name: str  # 'thin:node stream gcc-o2 omp'
    kind: str  # STEP or DRIFT
    night: str  # the first that differs
    found: str  # the night in which the rule found it
    metrics: tuple[str, ...]
    size: float  # a fraction of `before`
    before: float  # medians, in `unit`
    after: float
    unit: str
    limit: float
    deviation: float
    of_medians: float
    is_worse: bool
    is_back: bool  # the last 7 nights lie within the limit again
    cause: str  # "code_sha256 'a', before 'b'": what was run with changed in that night
    acknowledged: str = ''


def find_changes(nights: Nights, margin: float = MARGIN) -> list[Change]:
    """All changes, in order of time, each once."""
    found = [c for series in nights.series() for c in _of_series(series, nights, margin)]
    return sorted(_merged(found), key=lambda c: (c.night, c.name, c.nodes))


def _of_series(series: Series, nights: Nights, margin: float) -> list[Change]:
    levels = np.nanmedian(series.values, axis=1)
    parts = series.values / levels[:, None]
    found = []
    if len(series.nodes) >= LEAST_FLEET:
        fleet = np.nanmedian(parts, axis=0)
        parts = parts / fleet
        level, least = [float(np.median(levels))], min(margin, FLEET_MARGIN)
        found += _of_rows([FLEET], fleet[None, :], level, series, nights, least)
    return found + _of_rows(series.nodes, parts, levels, series, nights, margin)


def _of_rows(
    names: Sequence[str],
    parts: NDArray,
    levels: Sequence[float],
    series: Series,
    nights: Nights,
    margin: float,
) -> list[Change]:
    rows = [np.flatnonzero(~np.isnan(row)) for row in parts]
    every = [part[row] for part, row in zip(parts, rows, strict=True)]
    of_medians = now_and_before.medians_apart(every)
    found = []
    for name, values, row, level in zip(names, every, rows, levels, strict=True):
        for change in now_and_before.changes(values, margin, of_medians):
            last = float(np.median(values[-now_and_before.NOW :]))
            night = series.nights[row[change.first]]
            is_less = change.size < 0
            figure = series.figure
            found.append(Change(
                (name,), series_name(figure), change.kind, night, series.nights[row[change.found]],
                (figure.metric,), change.size, change.before * level, change.after * level,
                figure.unit, change.limit, change.deviation, of_medians,
                bool(is_less == (figure.better == HIGHER)),
                bool(abs(last / change.before - 1) <= change.limit),
                _cause(series, nights, name, night),
            ))  # fmt: skip
    return found


def _cause(series: Series, nights: Nights, node: str, night: str) -> str:
    """What changed in the build or run of the (first) node in this night."""
    builds = series.builds[0 if node == FLEET else series.nodes.index(node)]
    known, cut = np.flatnonzero(builds >= 0), series.nights.index(night)
    earlier, later = known[known < cut], known[known >= cut]
    if not len(earlier) or not len(later):
        return ''
    one, other = (nights.provenances[builds[n]] for n in (earlier[-1], later[0]))
    for name, (before, after) in difference(one, other).items():
        return f"{name} '{after[:60]}', before '{before[:60]}'"
    return ''


def series_name(figure: Figure) -> str:
    where = ':'.join(filter(None, (figure.system, figure.partition)))
    words = where, figure.benchmark, figure.parameters, figure.preset, figure.pinning
    return ' '.join(filter(None, words))


# --- one line per change -------------------------------------------------------------------


def _merged(found: list[Change]) -> list[Change]:
    """Metrics of one node, then nodes, that changed in the same nights."""
    by_node = _together(found, lambda c: (c.nodes, c.name, c.kind, c.is_worse), _join_metrics)
    return _together(by_node, lambda c: (c.nodes == (FLEET,), c.name, c.kind, c.is_worse), _join)


def _together(
    found: list[Change], key: Callable[[Change], tuple], join: Callable[[list[Change]], Change]
) -> list[Change]:
    groups: dict[tuple, list[list[Change]]] = defaultdict(list)
    for change in sorted(found, key=lambda c: c.night):
        of_key = groups[key(change)]
        if of_key and days(change.night) - days(of_key[-1][0].night) <= SAME_DAYS:
            of_key[-1].append(change)
        else:
            of_key.append([change])
    return [join(group) for of_key in groups.values() for group in of_key]


def _join_metrics(group: list[Change]) -> Change:
    first = max(group, key=lambda c: abs(c.size))
    metrics = tuple(dict.fromkeys([first.metrics[0], *(c.metrics[0] for c in group)]))
    return first._replace(metrics=metrics, is_back=all(c.is_back for c in group))


def _join(group: list[Change]) -> Change:
    nodes = tuple(sorted(node for c in group for node in c.nodes))
    first = sorted(group, key=lambda c: c.size)[len(group) // 2]
    return first._replace(nodes=nodes, is_back=all(c.is_back for c in group))


def days(night: str) -> int:
    """'2026-11-21' as a number of days; ValueError where it is no date."""
    return date.fromisoformat(night).toordinal()
