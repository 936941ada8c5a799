"""Curves: values against a number, with their ranges as bands."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from membw.printable import amount
from membw.report import svg
from membw.report.svg import (
    CATEGORIES,
    LETTER,
    LINE,
    WIDTH,
    Name,
    Picture,
    Scale,
    x_axis,
    y_axis,
)  # fmt: skip

LEAST_POINTS = 3  # of a curve
HEIGHT = 300  # of the plot alone
LINEAR_STEPS = 16  # numbers that are the steps of a linear axis
MARK_EVERY = 24  # pixels
ACROSS = 3  # names of curves in a line
MOST = len(CATEGORIES)  # curves that one picture can tell apart


class Curve(NamedTuple):
    """`points`: (x, value, low, high); low and high are None without a range."""

    name: str
    points: Sequence[tuple[float, float, float | None, float | None]]


class Axes(NamedTuple):
    """A logarithmic one leaves out 0."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    name_x: Name = '{:g}'.format
    from_zero: bool = True
    mark: tuple[float, str] | None = None  # a vertical line, and its name
    steps: Sequence[float] = ()  # of a linear x


def picture(title: str, curves: Sequence[Curve], axes: Axes, how_to_read: str) -> list[Picture]:
    """The first curves as one picture; none where no curve has enough points."""
    known = [curve._replace(points=sorted(_shown(curve, axes))) for curve in curves]
    drawn = [curve for curve in known if len(curve.points) >= LEAST_POINTS]
    more = f' {len(drawn) - MOST} more curves are in the table.' * (len(drawn) > MOST)
    return [_drawn(title, drawn[:MOST], axes, how_to_read + more)] if drawn else []


def _shown(curve: Curve, axes: Axes) -> list[tuple[float, float, float | None, float | None]]:
    points = curve.points
    return [p for p in points if (p[0] > 0 or not axes.log_x) and (p[1] > 0 or not axes.log_y)]


def _drawn(title: str, curves: Sequence[Curve], axes: Axes, how_to_read: str) -> Picture:
    top = LINE * (math.ceil(len(curves) / ACROSS) + bool(axes.mark)) + 28
    bottom = top + HEIGHT
    made = Picture(title, bottom + 2 * LINE + 8, how_to_read)
    points = [point for curve in curves for point in curve.points]
    values = [v for p in points for v in p[1:] if v is not None and (v > 0 or not axes.log_y)]
    across = svg.across([p[0] for p in points], axes.log_x)
    up = Scale(values, bottom, top, axes.log_y, axes.from_zero)
    y_axis(made, up, axes.y)
    measured = sorted({p[0] for p in points})
    if axes.log_x:
        across.steps = [x for x in measured if math.log2(x).is_integer()] or measured
    elif axes.steps or len(measured) <= LINEAR_STEPS:
        across.steps = [*axes.steps] or measured
    x_axis(made, across, top, bottom, axes.x, axes.name_x)
    if axes.mark:
        at, name = across(axes.mark[0]), axes.mark[1]
        half = LETTER * len(name) / 2
        middle = min(max(at, svg.LEFT + half), WIDTH - half)
        made.line(at, top, at, bottom, 'muted', stroke_dasharray='3 3')
        made.text(middle, top - 4, name, 'muted', text_anchor='middle')
    for number, curve in enumerate(curves):
        x, y = WIDTH / ACROSS * (number % ACROSS), LINE * (number // ACROSS)
        made.mark(x + 5, y + 8, number, CATEGORIES[number])
        made.text(x + 14, y + 12, curve.name)
        _curve(made, curve, number, across, up)
    return made


def _curve(made: Picture, curve: Curve, number: int, across: Scale, up: Scale) -> None:
    colour, free = CATEGORIES[number], -math.inf
    ranges = [
        (across(x), up(low), up(high))
        for x, _, low, high in curve.points
        if low is not None and high is not None
    ]
    if ranges:
        made.band(ranges, colour)
    made.path([(across(p[0]), up(p[1])) for p in curve.points], colour, stroke_width='2')
    for where, value, *_ in curve.points:
        if across(where) > free:
            tip = f'{curve.name}, {amount(where, 6)}: {amount(value)}'
            made.mark(across(where), up(value), number, colour, tip)
            free = across(where) + MARK_EVERY
