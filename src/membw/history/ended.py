"""Series that ended, and what began in their place: no two settings are compared night by night,
and where one ends, nothing got worse in what is not there."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date
from statistics import median, median_low
from typing import NamedTuple

from membw.grouped import grouped
from membw.history.changes import MARGIN, SAME_DAYS, SILENT
from membw.history.nights import Nights, Runs, Series, Span
from membw.printable import amount, at_most, plural
from membw.results.case import Case
from membw.results.hostlist import fold
from membw.results.record import HIGHER
from membw.statistics import MAD_TO_SIGMA
from membw.statistics.now_and_before import BEFORE, LEAST, LEAST_BEFORE, NOW, chance
from membw.statistics.peers import LEAST_DEVIATION

ENDED, BEGAN = 'ENDED', 'BEGAN'
MOST_NAMES = 2  # of series that ended alike


class Level(NamedTuple):
    """Of one metric and node: medians of its last nights before, and of its newest ones."""

    metric: str
    unit: str
    before: float
    after: float
    size: float
    limit: float
    is_worse: bool


class Ended(NamedTuple):
    """Series of some nodes that have no more records; `night`: when others began in their place,
    of none the last one."""

    nodes: tuple[str, ...]
    names: tuple[str, ...]  # of the series
    night: str
    found: str
    last: str
    nights: int  # of what began
    differs: tuple[tuple[str, str, str], ...]  # field, before, after; () where nothing began
    level: Level | None = None
    acknowledged: str = ''

    @property
    def kind(self) -> str:
        return BEGAN if self.differs else ENDED

    @property
    def size(self) -> float:
        return self.level.size if self.level else 0.0

    @property
    def metrics(self) -> tuple[str, ...]:
        return (self.level.metric,) if self.level else ()

    @property
    def is_red(self) -> bool:
        """What began reads less."""
        return bool(self.level and self.level.is_worse) and not self.acknowledged

    @property
    def is_open(self) -> bool:
        """Nothing can be said of it, so far."""
        is_young = not self.differs or self.nights < LEAST
        return is_young and not self.is_red and not self.acknowledged

    @property
    def line(self) -> str:
        """ "2026-06-27 n003 BEGAN (thin:node stream): partition 'b', before 'a'; ..."."""
        names = ', '.join(at_most([*self.names], MOST_NAMES))
        head = f'{self.night} {fold(self.nodes)} {self.kind} ({names})'
        fields = ', '.join(f"{name} '{new}', before '{old}'" for name, old, new in self.differs)
        parts = [f'{head}: {fields or "no figure since"}']
        if self.differs:
            parts.append(f'{plural(self.nights, "night")} since, not compared night by night')
        if self.level:
            metric, unit, before, after, size, limit, _ = self.level
            figures = (
                f'{metric} {amount(before, 5)} {unit} until {self.last}, now {amount(after, 5)}'
            )
            parts.append(f'{figures}: {size:+.1%}, limit {limit:.1%}')
        parts += [f'acknowledged: {self.acknowledged}'] * bool(self.acknowledged)
        return '; '.join(parts)


class Part(NamedTuple):
    """A node in one setting."""

    setting: Case  # of the first run of any node, with the compiler
    runs: Runs
    span: Span

    @property
    def gap(self) -> float:
        """Usual, from night to night: of what is measured weekly 7."""
        return (self.span.last - self.span.first) / max(self.span.nights - 1, 1)

    @property
    def patience(self) -> float:
        """The nights for which nobody wonders: of what is measured weekly three weeks."""
        return max(SILENT, 3 * self.gap)


def parts_of(nights: Nights) -> list[Part]:
    return [
        Part(next(iter(runs.figures.values())).setting, runs, span)
        for runs in nights.runs.values()
        if runs.figures
        for span in nights.spans(runs)
    ]


def find_ended(nights: Nights, parts: Sequence[Part], newest: dict[str, int]) -> list[Ended]:
    """Of parts of 7 nights and more, in order of time; `newest`: the last day of each system."""
    of_node = grouped((part.span.node, part) for part in parts)
    lasts = {node: max(part.span.last for part in own) for node, own in of_node.items()}
    every: dict[tuple[int, str], Series] = {}

    def values(part: Part, metric: str) -> list[float]:
        key = id(part.runs), metric
        series = every.get(key) or every.setdefault(key, nights.of(part.runs, metric))
        row = series.values[bisect_left(series.nodes, part.span.node)]
        return row[row == row].tolist()

    found: list[Ended] = []
    for one in (part for part in parts if part.span.nights >= LEAST_BEFORE):
        is_late = lasts[one.span.node] - one.span.last >= max(round(one.gap), 1)
        if is_late and (then := _successor(one, of_node[one.span.node])):
            metrics = _metrics(one.runs, then.runs)
            levels = [_level(one, values(one, m), values(then, m), m) for m in metrics]
            worst = min(levels, key=lambda of: (not of.is_worse, -abs(of.size)))
            found.append(_ended(one, then.span.first, then.span.first, then, worst))
        elif newest[one.setting.system] - one.span.last > one.patience:
            found.append(_ended(one, one.span.last, int(one.span.last + one.patience + 1)))
    return sorted(_joined(found), key=lambda one: (one.night, one.names, one.nodes))


def _ended(
    one: Part, day: int, found: int, then: Part | None = None, level: Level | None = None
) -> Ended:
    night, of, last = (date.fromordinal(n).isoformat() for n in (day, found, one.span.last))
    nights, differs = (then.span.nights, _differs(one, then)) if then else (0, ())
    return Ended((one.span.node,), (one.setting.name,), night, of, last, nights, differs, level)


def _successor(one: Part, every: Sequence[Part]) -> Part | None:
    """The part of the same node that began when this one had ended, in the likest setting."""
    later = [p for p in every if p.span.first > one.span.last and _metrics(one.runs, p.runs)]
    return min(later, key=lambda p: (len(_differs(one, p)), p.span.first), default=None)


def _metrics(one: Runs, other: Runs) -> list[str]:
    """Those that both have, in one unit."""
    kinds = [{m: (f.unit, f.better) for m, f in runs.figures.items()} for runs in (one, other)]
    return [metric for metric in kinds[0] if kinds[0][metric] == kinds[1].get(metric)]


def _differs(one: Part, other: Part) -> tuple[tuple[str, str, str], ...]:
    old, new = one.setting.texts, other.setting.texts
    return tuple((name, old[name][:60], new[name][:60]) for name in old if old[name] != new[name])


def _level(one: Part, before: list[float], after: list[float], metric: str) -> Level:
    before, after = before[-BEFORE:], after[-NOW:]
    middle, now = median_low(before), median_low(after)
    deviation = MAD_TO_SIGMA * median(abs(value / middle - 1) for value in before)
    figure = one.runs.figures[metric]
    # a few nights may all be bad ones
    many = 2 if len(after) == NOW else chance(1, len(before))
    limit = max(MARGIN, many * max(deviation, LEAST_DEVIATION))
    size = now / middle - 1
    worse = -size if figure.better == HIGHER else size
    return Level(metric, figure.unit, middle, now, size, limit, worse > limit)


def _joined(found: Sequence[Ended]) -> Iterator[Ended]:
    """Nodes, then series, of which the same is to be said; the level of the one in the middle."""
    keys = ((one.names, *_same(one), one) for one in found)
    groups = grouped((tuple(key), one) for *key, one in keys)
    of_nodes = [_join(group) for group in groups.values()]
    every = grouped(((one.nodes, *_same(one)), one) for one in of_nodes)
    for group in every.values():
        yield _join(group)


def _same(one: Ended) -> tuple:
    day = date.fromisoformat(one.night).toordinal() // SAME_DAYS
    return one.kind, one.differs, one.is_red, day


def _join(group: Sequence[Ended]) -> Ended:
    ordered = sorted(group, key=lambda one: one.size)
    nodes = tuple(sorted({node for one in group for node in one.nodes}))
    names = tuple(dict.fromkeys(name for one in group for name in one.names))
    return ordered[len(group) // 2]._replace(nodes=nodes, names=names)
