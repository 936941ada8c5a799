"""Runs whose date cannot be true: a clock is ahead, or has lost its battery."""

import numpy as np

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
    """{why: nodes} of which no run of the last nights has a date that can be true.

    `misdated`: {node: the date of its newest run that has none}, '' where it says nothing.
    """
    newest = max((int(s.nights[-1]) for s in every), default=0)
    seen = {n for s in every for n in _seen_since(s, newest - SILENT_DAYS)} if misdated else ()
    nodes_of = {}
    for node in sorted(misdated.keys() - seen, key=lambda node: (misdated[node], node)):
        when = f'dated {misdated[node]}' if misdated[node] else 'without a date'
        nodes_of.setdefault(f'its runs are {when}: look at its clock', []).append(node)
    return nodes_of


def _seen_since(series, day):
    recent = (series.software[:, series.nights >= day] >= 0).any(axis=1)
    return (node for node, is_there in zip(series.nodes, recent, strict=True) if is_there)
