"""The curves of a benchmark: a picture per unit and axis of its series."""

from collections.abc import Iterator

from membw.grouped import grouped
from membw.printable import in_bytes
from membw.report.charts import Axes, Curve, picture
from membw.report.svg import Picture
from membw.results.rows import Row

BAND = 'The band is the range in which a rerun is expected.'


def curves(row: Row) -> Iterator[Picture]:
    """Of the points of a valid row."""
    places = [(f, [*(f.at or {}).items()]) for f in row.figures.values() if f.series]
    points = grouped(
        ((f.unit, at[0][0], f.series), (float(at[0][1]), f.value, f.low, f.high))
        for f, at in places
        if len(at) == 1 and isinstance(at[0][1], int | float)
    )
    kinds = grouped(((unit, x), Curve(name, of)) for (unit, x, name), of in points.items())
    for (unit, x), of in kinds.items():
        every = [point for curve in of for point in curve.points]
        numbers, values = [point[0] for point in every], [point[1] for point in every]
        is_bytes = x == 'bytes'
        log_x = is_bytes or max(numbers) > 16 * min(numbers) > 0
        log_y = max(values) > 20 * min(values) > 0
        how = BAND * any(low is not None for _, _, low, _ in every)
        axes = Axes(x, unit, log_x, log_y, in_bytes if is_bytes else '{:g}'.format)
        yield from picture(f'{row.name} on {row.node}, {unit}', of, axes, how)
