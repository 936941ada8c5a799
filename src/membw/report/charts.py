"""The kinds of pictures: bars of one metric, curves against a number, a heat map of pairs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from membw.grouped import grouped
from membw.printable import amount
from membw.report import svg
from membw.report.svg import CATEGORIES, LETTER, LINE, Canvas, Name, Scale, heat, x_axis, y_axis

# --- bars: fastest first, with interval or bound, reference and peak
ROW = 22  # pixels of one row
WIDE = 500  # from here on the names stand left of the bars, else above them


class Bar(NamedTuple):
    """One row of the picture; `value` None: it has no figure, and `text` says why."""

    name: str
    value: float | None
    text: str  # the figure as the tables write it
    low: float | None = None
    high: float | None = None
    sign: str = ''  # '≥ ', '≤ ', '~ ' of a bound
    reference: tuple[float, float | None, float | None] | None = None  # value, lowest, highest
    is_fail: bool = False


def bars(rows: list[Bar], unit: str, peak: float | None, width: int) -> Canvas:
    """The picture, `width` pixels wide; figures are in `unit`, as is the peak."""
    above = 0 if width >= WIDE else LINE
    left = 4.0 if above else min(260.0, 12 + LETTER * max(len(row.name) for row in rows))
    right = width - 12 - LETTER * max(len(row.text) for row in rows if row.value is not None)
    step, top = ROW + above, 4 + LINE * (peak is not None)
    bottom = top + step * len(rows)
    canvas = Canvas(width, bottom + 2 * LINE + 8)
    ends = [x for row in rows for x in (row.value, row.high, *(row.reference or ())) if x]
    scale = Scale([*ends, *([peak] if peak else [])], left, right)
    x_axis(canvas, scale, top, bottom, unit)
    most = int((left - 12) / LETTER) + 1  # letters left of the bars
    for number, row in enumerate(rows):
        y = top + number * step
        if above:
            canvas.text(4, y + 12, row.name, text_anchor='start')
        else:
            name = row.name if len(row.name) <= most else f'{row.name[: most - 1]}…'
            canvas.text(left - 8, y + 15, name, text_anchor='end')
        _bar(canvas, row, y + above + 4, ROW - 8, scale)
    if peak is not None:
        canvas.line(scale(peak), top, scale(peak), bottom, 'muted', stroke_dasharray='5 4')
        canvas.text(scale(peak), top - 5, f'peak {amount(peak)}', 'muted', text_anchor='end')
    return canvas


def _bar(canvas: Canvas, row: Bar, y: float, height: float, scale: Scale) -> None:
    if row.value is None:
        canvas.text(scale.start + 4, y + height - 2, row.text, 'invalid')
        return
    middle, end, colour = y + height / 2, scale(row.value), 'fail' if row.is_fail else 'one'
    reach = end + (8 if row.sign else 0)
    if row.reference:
        value, *limits = row.reference
        from_x, to_x = (scale(value if limit is None else limit) for limit in limits)
        canvas.rect(from_x, y - 3, to_x - from_x, height + 6, 'band')
        reach = max(reach, to_x)
    ways = {'≥ ': [8], '≤ ': [-8], '~ ': [8, -8]}.get(row.sign, [])  # in which it is open
    solid = '0.35' if -8 in ways else '0.85'
    canvas.rect(scale.start, y, end - scale.start, height, colour, fill_opacity=solid)
    for way in ways:
        arrow = f'M{end:.1f} {y:.1f}l{way} {height / 2:.1f} {-way} {height / 2:.1f}Z'
        canvas.parts.append(f'<path d="{arrow}" class="fill-{colour}"/>')
    if row.reference:
        at = scale(row.reference[0])
        canvas.line(at, y - 3, at, y + height + 3, 'fore', stroke_width='2.5')
    if row.low is not None and row.high is not None:
        low, high = scale(row.low), scale(row.high)
        reach = max(reach, high)
        canvas.line(low, middle, high, middle, 'fore', stroke_width='1.5')
        for x in (low, high):
            canvas.line(x, middle - 4, x, middle + 4, 'fore', stroke_width='1.5')
    canvas.text(reach + 6, y + height - 3, row.text)


# --- curves: values against threads or bytes, with intervals where known
HEIGHT = 300  # of the plot alone
LINEAR_STEPS = 16  # numbers that are the steps of a linear axis
MARK_EVERY = 24  # pixels, along a band of many points
MOST = len(CATEGORIES)  # curves that one picture can tell apart


class Curve(NamedTuple):
    """`points`: (x, value, low, high); low and high are None without an interval."""

    name: str
    points: Sequence[tuple[float, float, float | None, float | None]]
    is_band: bool = False  # the intervals are a band, not a line each


def lines(
    curves: list[Curve], x_title: str, y_title: str, width: int,
    log_x: bool = False, log_y: bool = False, name_x: Name = '{:g}'.format, from_zero: bool = True,
    declared: Sequence[tuple[float, str]] = (), steps: Sequence[float] = (),
) -> Canvas:  # fmt: skip
    """The first curves as one picture, `width` pixels wide. A logarithmic axis leaves out 0.

    `declared`: (x, name) of vertical lines, such as the sizes of caches; `steps`: of
    a linear axis.
    """
    drawn = []
    for curve in curves[:MOST]:
        of = [p for p in curve.points if (p[0] > 0 or not log_x) and (p[1] > 0 or not log_y)]
        drawn += [curve._replace(points=sorted(of, key=lambda p: p[0]))] if of else []
    legend = _legend_places(drawn, width)
    top = (LINE * (legend[-1][1] + 1) + 28 if legend else 28) + LINE * bool(declared)
    bottom = top + HEIGHT
    canvas = Canvas(width, bottom + 2 * LINE + 8)
    points = [point for curve in drawn for point in curve.points]
    values = [v for p in points for v in p[1:] if v is not None and (v > 0 or not log_y)]
    across = svg.across(canvas, [p[0] for p in points], log_x)
    up = Scale(values, bottom, top, log_y, from_zero)
    y_axis(canvas, up, y_title)
    measured = sorted({p[0] for p in points})
    if log_x:
        across.steps = [x for x in measured if math.log2(x).is_integer()] or measured
    elif steps or len(measured) <= LINEAR_STEPS:
        across.steps = [*steps] or measured
    x_axis(canvas, across, top, bottom, x_title, name_x)
    for x, name in declared:
        if across.low <= x <= across.high:
            canvas.line(across(x), top, across(x), bottom, 'muted', stroke_dasharray='3 3')
            half = LETTER * len(name) / 2
            middle = min(max(across(x), svg.LEFT + half), width - half)
            canvas.text(middle, top - 4, name, 'muted', text_anchor='middle')
    for number, (curve, (x, line)) in enumerate(zip(drawn, legend, strict=True)):
        canvas.mark(x + 5, LINE * line + 8, number, CATEGORIES[number])
        canvas.text(x + 14, LINE * line + 12, curve.name)
        _curve(canvas, curve, number, across, up)
    return canvas


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


def _curve(canvas: Canvas, curve: Curve, number: int, across: Scale, up: Scale) -> None:
    colour, marked = CATEGORIES[number], -100.0
    ranges = [
        (across(x), up(low), up(high))
        for x, _, low, high in curve.points
        if low is not None and high is not None
    ]
    if curve.is_band and ranges:
        canvas.band(ranges, colour)
    elif not curve.is_band:
        for x, low, high in ranges:
            canvas.line(x, low, x, high, colour, stroke_width='1.5')
    canvas.path([(across(p[0]), up(p[1])) for p in curve.points], colour, stroke_width='2')
    for where, value, *_ in curve.points:
        x = across(where)
        if not curve.is_band or x > marked + MARK_EVERY:
            canvas.mark(
                x, up(value), number, colour, f'{curve.name}, {amount(where, 6)}: {amount(value)}'
            )
            marked = x


# --- a heat map: one value per pair of names
CELLS = 64  # of a side; of more names several share a cell
WRITTEN = 30  # pixels of a cell from which on the value is written into it
MOST_LETTERS = 18  # of a name
NAMED = 14  # pixels of a cell from which on every name is written


def heat_map(
    values: Mapping[tuple[str, str], float], names: Sequence[str], unit: str, width: int,
    shared: Callable[[list[float]], float] = max, top: float = math.inf,
) -> Canvas:  # fmt: skip
    """The map of {(row, column): value}, rows and columns in the order of `names`.

    `shared`: the value of a cell that several pairs share; `top`: values from here on have the
    brightest colour.
    """
    per_cell = math.ceil(len(names) / CELLS)
    place = {name: i // per_cell for i, name in enumerate(names)}
    cells = grouped(((place[one], place[other]), v) for (one, other), v in values.items())
    shown = {at: shared(those) for at, those in cells.items()}
    low, high = min(shown.values()), min(top, max(shown.values()))
    count = max(place.values()) + 1
    margin = 12 + LETTER * min(MOST_LETTERS, 2 + max(map(len, names)))
    size = min(48.0, (width - margin - 8) / count)
    above = LINE + margin
    canvas = Canvas(width, above + size * count + 2 * LINE)
    for (row, column), value in sorted(shown.items()):
        share = (value - low) / (high - low) if high > low else 0.0
        x, y = margin + column * size, above + row * size
        side = f'width="{size:.1f}" height="{size:.1f}" fill="{heat(share)}"'
        canvas.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" {side}/>')
        if size >= WRITTEN:
            middle = f'x="{x + size / 2:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle"'
            ink = '#ffffff' if share < 0.5 else '#000000'
            canvas.parts.append(f'<text {middle} fill="{ink}">{amount(value, 3)}</text>')
    every = math.ceil(NAMED / size)  # of the cells, as far as there is room for the text
    for cell, first in list(enumerate(range(0, len(names), per_cell)))[::every]:
        last = min(first + per_cell, len(names)) - 1
        text = (names[first] if first == last else f'{names[first]}..')[:MOST_LETTERS]
        at = cell * size + size / 2 + 4
        canvas.text(margin - 6, above + at, text, text_anchor='end')
        x, y = margin + at, above - 6
        canvas.text(x, y, text, transform=f'rotate(-90 {x:.1f} {y:.1f})')
    span = f'{amount(low, 3)} to {amount(high, 3)} {unit}'
    canvas.text(margin, above + size * count + LINE + 4, span, 'muted')
    return canvas
