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
    declared: Sequence[tuple[float, str]] = ()  # vertical lines, such as the sizes of caches
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
    legend = _legend_places(curves)
    top = LINE * (legend[-1][1] + 1 + bool(axes.declared)) + 28
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
    for x, name in axes.declared:
        if across.low <= x <= across.high:
            made.line(across(x), top, across(x), bottom, 'muted', stroke_dasharray='3 3')
            half = LETTER * len(name) / 2
            middle = min(max(across(x), svg.LEFT + half), WIDTH - half)
            made.text(middle, top - 4, name, 'muted', text_anchor='middle')
    for number, (curve, (x, line)) in enumerate(zip(curves, legend, strict=True)):
        made.mark(x + 5, LINE * line + 8, number, CATEGORIES[number])
        made.text(x + 14, LINE * line + 12, curve.name)
        _curve(made, curve, number, across, up)
    return made


def _legend_places(curves: Sequence[Curve]) -> list[tuple[float, int]]:
    """(x, line) of each name; a line is as long as the picture is wide."""
    places, x, line = [], 0.0, 0
    for curve in curves:
        room = 30 + LETTER * len(curve.name)
        if x and x + room > WIDTH:
            x, line = 0.0, line + 1
        places.append((x, line))
        x += room
    return places


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
