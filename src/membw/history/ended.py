"""Series that are new, that ended, and what began in their place: no two settings are compared
night by night, and where one ends, nothing got worse in what is not there."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from functools import cache
from statistics import median, median_low

from membw.grouped import grouped
from membw.history.changes import BEGAN, ENDED, MARGIN, NEW, SILENT, Change, merged
from membw.history.nights import Nights, Part, Runs
from membw.results.figure import Figure
from membw.results.record import HIGHER
from membw.statistics import MAD_TO_SIGMA
from membw.statistics.now_and_before import BEFORE, LEAST, LEAST_BEFORE, NOW, chance
from membw.statistics.peers import LEAST_DEVIATION


def find_ended(nights: Nights) -> tuple[list[Change], int]:
    """In order of time; and the nights of the part that has most, of those that were measured in
    the newest night of their system: of a machine with a new name few."""
    parts = nights.parts()
    newest = {p.setting.system: p.last for p in sorted(parts, key=lambda p: p.last)}
    of_node = grouped((part.node, part) for part in parts)
    lasts = {node: max(part.last for part in own) for node, own in of_node.items()}
    series = cache(nights.of)

    def values(part: Part, metric: str) -> list[float]:
        every = series(part.runs, metric)
        row = every.values[bisect_left(every.nodes, part.node)]
        return row[row == row].tolist()

    found: list[Change] = []
    for one in parts:
        own = Change(ENDED, (one.node,), (one.setting.name,), _night(one.last))
        # for so long nobody wonders: of what is measured weekly three weeks
        end = one.last + max(SILENT, 3 * one.gap)
        is_late = lasts[one.node] - one.last >= max(round(one.gap), 1)
        is_young = one.nights < LEAST_BEFORE
        if not is_young and is_late and (then := _successor(one, of_node[one.node])):
            night, differs = _night(then.first), one.setting.differs(then.setting)
            own = own._replace(kind=BEGAN, night=night, since=then.nights)
            metrics = _metrics(one.runs, then.runs)
            levels = [
                _level(own, one.runs.figures[m], values(one, m), values(then, m)) for m in metrics
            ]
            worst = min(levels, key=lambda of: (not of.is_worse, -abs(of.size)))
            found.append(worst._replace(differs=differs))
        elif newest[one.setting.system] > end:
            found += [own] * (not is_young)
        elif one.nights < LEAST:
            found.append(own._replace(kind=NEW, night=_night(one.first), since=one.nights))
    going_on = [p.nights for p in parts if p.last == newest[p.setting.system]]
    return merged(found), max(going_on, default=0)


def _night(day: int) -> str:
    return date.fromordinal(day).isoformat()


def _successor(one: Part, every: Sequence[Part]) -> Part | None:
    """The part of the same node that began when this one had ended, in the likest setting."""
    later = [p for p in every if p.first > one.last and _metrics(one.runs, p.runs)]
    return min(later, key=lambda p: (len(one.setting.differs(p.setting)), p.first), default=None)


def _metrics(one: Runs, other: Runs) -> list[str]:
    """Those that both have, in one unit."""
    kinds = [{m: (f.unit, f.better) for m, f in runs.figures.items()} for runs in (one, other)]
    return [metric for metric in kinds[0] if kinds[0][metric] == kinds[1].get(metric)]


def _level(own: Change, figure: Figure, before: list[float], after: list[float]) -> Change:
    """With the medians of the last nights before and of the newest ones."""
    before, after = before[-BEFORE:], after[-NOW:]
    middle, now = median_low(before), median_low(after)
    deviation = MAD_TO_SIGMA * median(abs(value / middle - 1) for value in before)
    deviation = max(deviation, LEAST_DEVIATION)
    # a few nights may all be bad ones
    limit = max(MARGIN, deviation * (2 if len(after) == NOW else chance(1, len(before))))
    size = now / middle - 1
    return own._replace(
        metrics=(figure.metric,), size=size, of=own.nodes[0], nights=len(before), before=middle,
        after=now, unit=figure.unit, limit=limit, deviation=deviation,
        is_worse=(-size if figure.better == HIGHER else size) > limit,
    )  # fmt: skip
