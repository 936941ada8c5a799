"""Curves: values against a number, such as threads or bytes, with intervals where known."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from membw.report.svg import LETTER, LINE, Canvas, Scale, x_axis, y_axis
from membw.report.theme import CATEGORIES

HEIGHT = 300  # of the plot alone
FEW = 16  # numbers that are the steps of a linear axis
LEFT = 52  # pixels for the values of the axis
MARK_EVERY = 24  # pixels, along a band of many points
MOST = len(CATEGORIES)  # curves that one picture can tell apart


class Curve(NamedTuple):
    """`points`: (x, value, low, high); low and high are None without an interval."""

    name: str
    points: Sequence[tuple[float, float, float | None, float | None]]
    is_band: bool = False  # the intervals are a band, not a line each


def lines(
    curves: list[Curve],
    x_title: str,
    y_title: str,
    width: int,
    label: str,
    log_x: bool = False,
    log_y: bool = False,
    name_x: Callable[[float], str] = '{:g}'.format,
    from_zero: bool = True,
    declared: Sequence[tuple[float, str]] = (),
    steps: Sequence[float] = (),
) -> Canvas:
    """The first curves as one picture, `width` pixels wide. A logarithmic axis leaves out 0.

    `declared`: (x, name) of vertical lines, such as the sizes of caches; `steps`: of
    a linear axis.
    """
    curves = [_drawable(curve, log_x, log_y) for curve in curves[:MOST]]
    curves = [curve for curve in curves if curve.points]
    legend = _legend_places(curves, width)
    top = (LINE * (legend[-1][1] + 1) + 28 if legend else 28) + LINE * bool(declared)
    bottom = top + HEIGHT
    canvas = Canvas(width, bottom + 2 * LINE + 8, label)
    points = [point for curve in curves for point in curve.points]
    values = [v for p in points for v in p[1:] if v is not None and (v > 0 or not log_y)]
    across = Scale([p[0] for p in points], LEFT, width - 14, log_x)
    up = Scale(values, bottom, top, log_y, from_zero)
    y_axis(canvas, up, LEFT, width - 14, y_title)
    measured = sorted({p[0] for p in points})
    if log_x:
        across.steps = [x for x in measured if math.log2(x).is_integer()] or measured
    elif steps:
        across.steps = list(steps)
    elif len(measured) <= FEW:
        across.steps = measured
    x_axis(canvas, across, top, bottom, x_title, name_x)
    for x, name in declared:
        if across.low <= x <= across.high:
            canvas.line(across(x), top, across(x), bottom, 'muted', stroke_dasharray='3 3')
            half = LETTER * len(name) / 2
            middle = min(max(across(x), LEFT + half), width - half)
            canvas.text(middle, top - 4, name, 'muted', anchor='middle')
    for number, (curve, (x, line)) in enumerate(zip(curves, legend, strict=True)):
        colour = CATEGORIES[number]
        canvas.mark(x + 5, LINE * line + 8, number, colour)
        canvas.text(x + 14, LINE * line + 12, curve.name)
        _curve(canvas, curve, number, colour, across, up)
    return canvas


def _drawable(curve: Curve, log_x: bool, log_y: bool) -> Curve:
    points = [p for p in curve.points if (p[0] > 0 or not log_x) and (p[1] > 0 or not log_y)]
    return curve._replace(points=sorted(points, key=lambda p: p[0]))


def _legend_places(curves: list[Curve], width: int) -> list[tuple[float, int]]:
    """(x, line) of each name; a line is as long as the picture is wide."""
    places, x, line = [], 0.0, 0
    for curve in curves:
        room = 30 + LETTER * len(curve.name)
        if x and x + room > width:
            x, line = 0.0, line + 1
        places.append((x, line))
        x += room
    return places


def _curve(
    canvas: Canvas, curve: Curve, number: int, colour: str, across: Scale, up: Scale
) -> None:
    at = [(across(p[0]), up(p[1])) for p in curve.points]
    ranges = [
        (x, up(low), up(high))
        for (x, _), (_, _, low, high) in zip(at, curve.points, strict=True)
        if low is not None and high is not None
    ]
    if curve.is_band:
        if ranges:
            canvas.band(ranges, colour)
    else:
        for x, low, high in ranges:
            canvas.line(x, low, x, high, colour, stroke_width='1.5')
    canvas.path(at, colour, stroke_width='2')
    marked = -100.0
    for (x, y), (where, value, *_) in zip(at, curve.points, strict=True):
        if not curve.is_band or x > marked + MARK_EVERY:
            canvas.mark(x, y, number, colour, f'{curve.name}, {where:g}: {value:.4g}')
            marked = x
