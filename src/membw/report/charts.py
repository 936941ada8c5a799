"""Curves: values against a number, with their ranges as bands."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from membw.printable import amount
from membw.report import svg
from membw.report.model import Picture
from membw.report.svg import CATEGORIES, LETTER, LINE, Canvas, Name, Scale, x_axis, y_axis

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
    of = Picture(title, lambda width: lines(drawn[:MOST], axes, width), f'{how_to_read}{more}')
    return [of] if drawn else []


def _shown(curve: Curve, axes: Axes) -> list[tuple[float, float, float | None, float | None]]:
    points = curve.points
    return [p for p in points if (p[0] > 0 or not axes.log_x) and (p[1] > 0 or not axes.log_y)]


def lines(curves: Sequence[Curve], axes: Axes, width: int) -> Canvas:
    """The picture, `width` pixels wide."""
    legend = _legend_places(curves, width)
    top = LINE * (legend[-1][1] + 1 + bool(axes.declared)) + 28
    bottom = top + HEIGHT
    canvas = Canvas(width, bottom + 2 * LINE + 8)
    points = [point for curve in curves for point in curve.points]
    values = [v for p in points for v in p[1:] if v is not None and (v > 0 or not axes.log_y)]
    across = svg.across(canvas, [p[0] for p in points], axes.log_x)
    up = Scale(values, bottom, top, axes.log_y, axes.from_zero)
    y_axis(canvas, up, axes.y)
    measured = sorted({p[0] for p in points})
    if axes.log_x:
        across.steps = [x for x in measured if math.log2(x).is_integer()] or measured
    elif axes.steps or len(measured) <= LINEAR_STEPS:
        across.steps = [*axes.steps] or measured
    x_axis(canvas, across, top, bottom, axes.x, axes.name_x)
    for x, name in axes.declared:
        if across.low <= x <= across.high:
            canvas.line(across(x), top, across(x), bottom, 'muted', stroke_dasharray='3 3')
            half = LETTER * len(name) / 2
            middle = min(max(across(x), svg.LEFT + half), width - half)
            canvas.text(middle, top - 4, name, 'muted', text_anchor='middle')
    for number, (curve, (x, line)) in enumerate(zip(curves, legend, strict=True)):
        canvas.mark(x + 5, LINE * line + 8, number, CATEGORIES[number])
        canvas.text(x + 14, LINE * line + 12, curve.name)
        _curve(canvas, curve, number, across, up)
    return canvas


def _legend_places(curves: Sequence[Curve], width: int) -> list[tuple[float, int]]:
    """(x, line) of each name; a line is as long as the picture is wide."""
    places, x, line = [], 0.0, 0
    for curve in curves:
        room = 30 + LETTER * len(curve.name)
        if x and x + room > width:
            x, line = 0.0, line + 1
        places.append((x, line))
        x += room
    return places


def _curve(canvas: Canvas, curve: Curve, number: int, across: Scale, up: Scale) -> None:
    colour, free = CATEGORIES[number], -math.inf
    ranges = [
        (across(x), up(low), up(high))
        for x, _, low, high in curve.points
        if low is not None and high is not None
    ]
    if ranges:
        canvas.band(ranges, colour)
    canvas.path([(across(p[0]), up(p[1])) for p in curve.points], colour, stroke_width='2')
    for where, value, *_ in curve.points:
        if across(where) > free:
            tip = f'{curve.name}, {amount(where, 6)}: {amount(value)}'
            canvas.mark(across(where), up(value), number, colour, tip)
            free = across(where) + MARK_EVERY
