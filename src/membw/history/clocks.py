"""Runs whose date cannot be true: a clock is ahead, or has lost its battery."""

import numpy as np

from membw.results.hostlist import fold

BATTERY_GONE = 10_957  # 2000-01-01: before it is no run of ours; a dead clock begins at 1970
SILENT_DAYS = 14  # as for `membw rank`: a node that was measured since is judged by that


def last_day(node, day, today):
    """The last day (since 1970) that a run may be of: tomorrow, as a clock may be off by a time
    zone. Where most nodes say that ours is behind, by theirs."""
    if not len(day) or day.max() <= today + 1:
        return today + 1
    newest = np.zeros(node.max() + 1, dtype=np.int64)
    np.maximum.at(newest, node, day)
    return max(today, int(np.median(newest[np.unique(node)]))) + 1


def not_judged(misdated, every):
    """Lines on nodes of which no run of the last nights has a date that can be true.

    `misdated`: {node: the date of its newest run that has none}, '' where it says nothing.
    """
    newest = max((int(s.nights[-1]) for s in every), default=0)
    seen = {n for s in every for n in _seen_since(s, newest - SILENT_DAYS)} if misdated else ()
    nodes_of = {}
    for node in sorted(misdated.keys() - seen):
        nodes_of.setdefault(misdated[node], []).append(node)
    for date, nodes in sorted(nodes_of.items()):
        when = f'dated {date}' if date else 'without a date'
        yield f'{fold(nodes)}: not judged, its runs are {when}: look at its clock'


def _seen_since(series, day):
    recent = (series.software[:, series.nights >= day] >= 0).any(axis=1)
    return (node for node, is_there in zip(series.nodes, recent, strict=True) if is_there)
