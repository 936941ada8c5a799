"""Bars: one metric of several rows, fastest first, with interval or bound, reference and peak."""

from typing import NamedTuple

from membw.report.svg import LETTER, LINE, Canvas, Scale, x_axis

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


def bars(rows: list[Bar], unit: str, peak: float | None, width: int, label: str) -> Canvas:
    """The picture, `width` pixels wide; figures are in `unit`, as is the peak."""
    above = 0 if width >= WIDE else LINE
    left = 4.0 if above else min(260.0, 12 + LETTER * max(len(row.name) for row in rows))
    right = width - 12 - LETTER * max(len(row.text) for row in rows if row.value is not None)
    step, top = ROW + above, 4 + LINE * (peak is not None)
    bottom = top + step * len(rows)
    canvas = Canvas(width, bottom + 2 * LINE + 8, label)
    ends = [x for row in rows for x in (row.value, row.high, *(row.reference or ())) if x]
    scale = Scale([*ends, *([peak] if peak else [])], left, right)
    x_axis(canvas, scale, top, bottom, unit)
    for number, row in enumerate(rows):
        y = top + number * step
        name = row.name if above else shortened(row.name, left)
        canvas.text(
            4 if above else left - 8,
            y + (12 if above else 15),
            name,
            anchor='start' if above else 'end',
        )
        _bar(canvas, row, y + above + 4, ROW - 8, scale)
    if peak is not None:
        canvas.line(scale(peak), top, scale(peak), bottom, 'muted', stroke_dasharray='5 4')
        canvas.text(scale(peak), top - 5, f'peak {peak:g}', 'muted', anchor='end')
    return canvas


def shortened(name: str, room: float) -> str:
    """The name, cut where it is wider than so many pixels."""
    most = int((room - 12) / LETTER) + 1
    return name if len(name) <= most else f'{name[: most - 1]}…'


def _bar(canvas: Canvas, row: Bar, y: float, height: float, scale: Scale) -> None:
    if row.value is None:
        canvas.text(scale.start + 4, y + height - 2, row.text, 'invalid')
        return
    middle, end, colour = y + height / 2, scale(row.value), 'fail' if row.is_fail else 'one'
    reach = end + (8 if row.sign else 0)
    if row.reference:
        value, low, high = row.reference
        from_x = scale(value if low is None else low)
        to_x = scale(value if high is None else high)
        canvas.rect(from_x, y - 3, to_x - from_x, height + 6, 'band')
        reach = max(reach, to_x)
    is_upper, is_lower = row.sign in ('≤ ', '~ '), row.sign in ('≥ ', '~ ')
    solid = '0.35' if is_upper else '0.85'
    canvas.rect(scale.start, y, end - scale.start, height, colour, fill_opacity=solid)
    for is_drawn, reaches in ((is_lower, 8), (is_upper, -8)):
        if is_drawn:
            arrow = f'M{end:.1f} {y:.1f}l{reaches} {height / 2:.1f} {-reaches} {height / 2:.1f}Z'
            canvas.raw(f'<path d="{arrow}" class="fill-{colour}"/>')
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
