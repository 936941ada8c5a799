"""The newest measurement of each series: one test, preset and pinning on one partition.

It is the one of at least half of the series' nodes: from 12 hours before the moment since which
half of them have been measured. The first valid run of a node in it is the node's first
measurement, all later ones are further ones, however late. Where half of the nodes were not
measured within 12 hours, the newest run of each node counts.
Nodes and series without a run in the last 14 days are old.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from membw.grouped import grouped
from membw.moments import night_of
from membw.results.figure import Figure
from membw.results.findings import Finding

TOGETHER_S = 12 * 3600
OLD_S = 14 * 86_400


def begins_of(
    runs: Sequence[Figure], together_s: float
) -> tuple[dict[str, float], dict[str, float]]:
    """({node: from when its runs are of the newest measurement of their series}, {node not in it:
    its last run})."""
    last: dict[str, float] = {}
    for one in runs:
        last[one.node] = max(last.get(one.node, 0.0), one.time)
    half = sorted(last.values(), reverse=True)[(len(last) - 1) // 2]
    begin = half - together_s
    together = {one.node for one in runs if begin <= one.time <= half + together_s}
    if 2 * len(together) < len(last):
        return {node: when - together_s for node, when in last.items()}, {}
    begins = dict.fromkeys((node for node, when in last.items() if when >= begin), begin)
    return begins, {node: when for node, when in last.items() if when < begin}


class Newest(NamedTuple):
    """`missing`: {node: why}: it has older records, and none in a newest measurement; `before`:
    all figures of earlier nights."""

    first: list[Figure]
    again: list[Figure]
    missing: dict[str, Finding]
    before: list[Figure]


def newest(
    figures: Sequence[Figure], last_seen: Mapping[str, float], together_s: float = TOGETHER_S
) -> Newest:
    """Of all series; `last_seen`: {node: when} of all records, also where `figures` are fewer."""
    end = max((f.time for f in figures), default=0.0)
    every = grouped((f.setting.row, f) for f in figures if end - f.time <= OLD_S)
    found = Newest([], [], {}, [])
    for row, of_series in sorted(every.items()):
        begins, missing = begins_of(of_series, together_s)
        name = f' of {row.test} {row.preset}'.rstrip()
        found.missing.update((node, _since(name, when)) for node, when in missing.items())
        kept = list[Figure]()
        for f in of_series:
            (kept if f.time >= begins.get(f.node, math.inf) else found.before).append(f)
        for of_node in grouped(((f.setting, f.node), f) for f in kept).values():
            first, *later = in_order([*grouped((id(f.of), f) for f in of_node).values()])
            found.first.extend(first)
            found.again.extend(f for run in later for f in run)
    gone = last_seen.keys() - {f.node for f in found.first}
    found.missing.update((node, _since('', last_seen[node])) for node in gone)
    return found


def _since(of: str, seconds: float) -> Finding:
    return Finding('no-record-since', {'of': of, 'night': night_of(seconds)})


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
