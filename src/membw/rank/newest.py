"""The newest measurement of each series: one test, preset and pinning on one partition.

It is the one of at least half of the series' nodes: from 12 hours before the moment since which
half of them have been measured. The first valid run of a node in it is the node's first
measurement, all later ones are further ones, however late. Where half of the nodes were not
measured within 12 hours, the newest run of each node counts.
Nodes and series without a run in the last 14 days are old.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from membw.moments import night_of
from membw.results.table import TOGETHER_S, Figure, begins_of

OLD_S = 14 * 86_400


class Newest(NamedTuple):
    """`missing`: {node: why}: it has older records, and none in a newest measurement."""

    first: list[Figure]
    again: list[Figure]
    missing: dict[str, str]


def newest(
    figures: Sequence[Figure],
    last_seen: dict[str, float] | None = None,
    together_s: float = TOGETHER_S,
) -> Newest:
    """Of all series; `last_seen`: {node: when} of all records, where `figures` are fewer."""
    end = max((f.time for f in figures), default=0.0)
    every: dict[tuple, list[Figure]] = defaultdict(list)
    seen = dict(last_seen or {})
    for f in figures:
        seen[f.node] = max(seen.get(f.node, 0.0), f.time)
        if end - f.time <= OLD_S:
            every[f.setting.series].append(f)
    found = Newest([], [], {})
    for of_series in (every[series] for series in sorted(every)):
        begins, missing = begins_of(of_series, together_s)
        for node, when in missing.items():
            name = ' '.join(filter(None, (of_series[0].benchmark, of_series[0].preset)))
            found.missing[node] = f'no record of {name} since {night_of(when)}'
        _split((f for f in of_series if f.time >= begins.get(f.node, f.time + 1)), found)
    measured = {f.node for f in found.first}
    gone = seen.keys() - measured
    found.missing.update((node, f'no record since {night_of(seen[node])}') for node in gone)
    return found


def _split(figures: Iterable[Figure], found: Newest) -> None:
    runs: dict[tuple, dict[int, list[Figure]]] = defaultdict(lambda: defaultdict(list))
    for f in figures:
        runs[f.setting, f.node][id(f.of)].append(f)
    for of_node in runs.values():
        first, *later = in_order([*of_node.values()])
        found.first.extend(first)
        found.again.extend(f for run in later for f in run)


def in_order(runs: list[list[Figure]]) -> list[list[Figure]]:
    """The runs of one node; INVALID ones are last. Those of one session are in its own order: the
    clocks of nodes differ."""
    begin: dict[str, float] = {}
    for of in (run[0].of for run in runs):
        begin[of.session] = min(begin.get(of.session, of.time), of.time)

    def place(run: list[Figure]) -> tuple:
        of = run[0].of
        start = begin[of.session] if of.session else of.time
        return of.verdict != 'VALID', start, of.number, of.time, of.file, of.line

    return sorted(runs, key=place)
