"""A heat map: one value per pair of names."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from membw.report.svg import LETTER, LINE, Canvas
from membw.report.theme import heat

CELLS = 64  # of a side; of more names several share a cell
WRITTEN = 30  # pixels of a cell from which on the value is written into it
MOST_LETTERS = 18  # of a name
NAMED = 14  # pixels of a cell from which on every name is written


def heat_map(
    values: Mapping[tuple[str, str], float],
    names: Sequence[str],
    unit: str,
    width: int,
    label: str,
    shared: Callable[[list[float]], float] = max,
    top: float = math.inf,
) -> Canvas:
    """The map of {(row, column): value}, rows and columns in the order of `names`.

    `shared`: the value of a cell that several pairs share; `top`: values from here on have the
    brightest colour.
    """
    per_cell = math.ceil(len(names) / CELLS)
    place = {name: i // per_cell for i, name in enumerate(names)}
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for (one, other), value in values.items():
        cells[place[one], place[other]].append(value)
    shown = {at: shared(those) for at, those in cells.items()}
    low, high = min(shown.values()), min(top, max(shown.values()))
    count = max(place.values()) + 1
    margin = 12 + LETTER * min(MOST_LETTERS, 2 + max(map(len, names)))
    size = min(48.0, (width - margin - 8) / count)
    above = LINE + margin
    canvas = Canvas(width, above + size * count + 2 * LINE, label)
    for (row, column), value in sorted(shown.items()):
        share = (value - low) / (high - low) if high > low else 0.0
        x, y = margin + column * size, above + row * size
        canvas.raw(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{size:.1f}" height="{size:.1f}" '
            f'fill="{heat(share)}"/>'
        )
        if size >= WRITTEN:
            ink = '#ffffff' if share < 0.5 else '#000000'
            canvas.raw(
                f'<text x="{x + size / 2:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle" '
                f'fill="{ink}">{value:.3g}</text>'
            )
    _names(canvas, names, per_cell, size, margin, above)
    canvas.text(
        margin, above + size * count + LINE + 4, f'{low:.3g} to {high:.3g} {unit}', 'muted'
    )
    return canvas


def _names(
    canvas: Canvas, names: Sequence[str], per_cell: int, size: float, margin: float, above: float
) -> None:
    every = math.ceil(NAMED / size)  # of the cells, as far as there is room for the text
    for cell, first in enumerate(range(0, len(names), per_cell)):
        if cell % every:
            continue
        last = min(first + per_cell, len(names)) - 1
        text = names[first] if first == last else f'{names[first]}..'
        at = cell * size + size / 2 + 4
        canvas.text(margin - 6, above + at, text[:MOST_LETTERS], anchor='end')
        x, y = margin + at, above - 6
        canvas.text(x, y, text[:MOST_LETTERS], transform=f'rotate(-90 {x:.1f} {y:.1f})')
