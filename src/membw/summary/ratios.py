"""Presets and pinnings compared with the first of each, by pairs of one round.

A bad minute that hits both of a pair cancels in its ratio. Pairs of two states of a virtual
machine are discarded.
"""

import math
import statistics
from collections.abc import Iterator

from membw.results.rows import Attempt, Row
from membw.results.table import headline
from membw.tables import Cell, Column, Table

LEAST = 2  # one pair is no comparison
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365)  # two-sided 95 %, of 2 to 8 values


def blocks_of(rows: list[Row]) -> Iterator[Table | str]:
    """A table for each test with something to compare; of its headline (STREAM's: Triad)."""
    for test, where in dict.fromkeys((row.test, row.where) for row in rows):
        group = [row for row in rows if (row.test, row.where) == (test, where)]
        lines = [*compared(group, 'preset'), *compared(group, 'pinning')]
        if lines:
            metric = next(row.headline.metric for row in group if row.figures).capitalize()
            columns = Column('name', ''), Column('ratio', metric), Column('base', '')
            yield ''
            yield Table(f'ratios of {test} on {where}, each within one round', columns, lines)


def compared(rows: list[Row], axis: str) -> Iterator[list[Cell]]:
    """A line for each preset (pinning): to the first, by pairs alike in all else; the median of
    the pairs, and the half width of its 95 % interval."""
    names = list(dict.fromkeys(getattr(row, axis) for row in rows))
    for name in names[1:]:
        values = list(ratios_of(rows, axis, name, names[0]))
        if len(values) >= LEAST:
            student = STUDENT[min(len(values) - 2, len(STUDENT) - 1)]
            half = student * statistics.stdev(values) / math.sqrt(len(values))
            median = statistics.median(values)
            yield [
                Cell(name, f'{name} is'),
                Cell(median, f'{median:.2f} ±{math.ceil(half * 100 - 1e-9) / 100:.2f}'),
                Cell(names[0], f'of {names[0]}, {len(values)} pairs'),
            ]


def ratios_of(rows: list[Row], axis: str, name: str, base: str) -> Iterator[float]:
    """Of the headline, in the same round of rows that differ in nothing else."""
    for mine in (row for row in rows if getattr(row, axis) == name):
        for other in (row for row in rows if getattr(row, axis) == base):
            if key(mine, axis) == key(other, axis):
                by_round = {a.round: a for a in other.attempts}
                for a in mine.attempts:
                    if a.round in by_round:
                        yield from ratio(a, by_round[a.round])


def key(row: Row, axis: str) -> tuple:
    """All of a row but what is compared."""
    rest = sorted((n, v) for n, v in row.parameters.items() if n != axis)
    return ('' if axis == 'preset' else row.preset), rest


def ratio(mine: Attempt, other: Attempt) -> Iterator[float]:
    """Of the headline; a lower bound is no part of a ratio."""
    if not mine.figures or not other.figures:
        return
    one, base = headline(mine.figures), headline(other.figures)
    if one.metric == base.metric and not any(
        f.is_bound or f.verdict != 'VALID' for f in (one, base)
    ):
        yield one.value / base.value
