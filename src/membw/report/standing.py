"""Where the rows of a run stand: between half of the peak, what others reach, and the peak."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from membw.expected import expectation, proof, published
from membw.expected.published import READ
from membw.expected.sentence import named
from membw.presets.table import Facts
from membw.printable import amount
from membw.report.model import Section
from membw.report.sections import title_of
from membw.report.svg import LETTER, LINE, WIDTH, Picture, Scale, x_axis
from membw.results.figure import Figure
from membw.results.record import inner
from membw.results.rows import Row
from membw.site import cpu_peak as peak
from membw.summary.full_table import text_of
from membw.tables import Table

ROW = 24  # pixels of a line
ROWS = 12  # of the run
ANOTHER, OWN, MOVED = range(3)  # a circle, a square, a triangle
COLOURS = 'muted', 'one', 'two'
KINDS = 'ordinary', 'claimed', 'non-temporal', published.NOT_SAID, READ
HOW = 'Square: a figure of this node. '
RANGE = 'Line through it: the range in which a rerun is expected. '
REFERENCE = 'Upright line: its reference. '
OTHERS = 'Circle: another machine, of this CPU or a neighbour, by its share of the peak. '
MOST = 'Triangle: the most that it may have moved, with the lines that stores read first. '
Mark = tuple[float, int, str]  # value; which shape; who


class Line(NamedTuple):
    name: str
    marks: list[Mark]
    figure: Figure | None = None  # of a row: its range and its reference are drawn


def expected(record: Facts, top: peak.Peak) -> Section:
    """What `membw expect` says of this node."""
    blocks = [*expectation.blocks(top, inner(record, 'facts'))]
    notes = [block for block in blocks if isinstance(block, str) and block]
    tables = [block for block in blocks if isinstance(block, Table)]
    return Section('expected', 'What to expect', notes, tables=tables)


def picture(rows: Sequence[Row], record: Facts, top: peak.Peak | None) -> Picture:
    """Rows of one test, the best first; `record`: of the best one; `top`: its peak, where the
    figures are Triad's and it is known."""
    metric, unit = rows[0].headline.metric, rows[0].headline.unit
    known = [row for row in rows if metric in row.figures]
    lines = [_own(row, metric) for row in known[:ROWS]]
    if top:
        moved = {m.kernel: m for m in proof.moved(record, top.row)}
        if (triad := moved.get('triad')) and triad.most > triad.counted:
            lines[0].marks.append((triad.most, MOVED, 'moved at most'))
        read = [(moved['read'].counted, OWN, 'this node')] if 'read' in moved else []
        lines += _others(top, read)
    figures = [line.figure for line in lines if line.figure]
    which = {mark[1] for line in lines for mark in line.marks}
    parts = {  # what is drawn, and nothing else
        HOW: True,
        RANGE: any(f.low is not None for f in figures),
        REFERENCE: any(f.reference for f in figures),
        MOST: MOVED in which,
        OTHERS: ANOTHER in which,
        f'{len(known) - ROWS} more rows are in the table.': len(known) > ROWS,
    }
    how = ''.join(text for text, is_drawn in parts.items() if is_drawn)
    title = f'{title_of(rows[0].headline)}, {unit}'
    above = 4 + LINE * bool(top)
    made = Picture(title, above + ROW * len(lines) + 2 * LINE + 8, how)
    _draw(made, lines, unit, above, top.gbs if top else 0)
    return made


def _own(row: Row, metric: str) -> Line:
    if not row.is_valid:
        return Line(f'{row.name} {row.word}', [])
    f = row.figures[metric]
    return Line(f'{row.name} {text_of(f)}', [(f.value, OWN, row.name)], f)


def _others(top: peak.Peak, read: list[Mark]) -> Iterator[Line]:
    """A line for each kind of stores; `read`: what this node reads alone."""
    for kind in KINDS:
        marks = [
            (share / 100 * top.gbs, ANOTHER, f'{row["machine"]}: {share:.0f} %')
            for row in published.like(top, kind)
            for share in published.shares([row])
        ]
        marks += read if kind == READ else []
        if marks:
            yield Line(f'others, {named(kind)}', marks)


def _draw(made: Picture, lines: Sequence[Line], unit: str, top: int, gbs: float) -> None:
    """From `top` on; `gbs`: the peak, or 0."""
    left, bottom = 16 + LETTER * max(len(line.name) for line in lines), top + ROW * len(lines)
    ends = [mark[0] for line in lines for mark in line.marks]
    figures = [line.figure for line in lines if line.figure]
    ends += [x for f in figures for x in (f.high, f.reference) if x]
    scale = Scale([*ends, gbs], left, WIDTH - 20)
    x_axis(made, scale, top, bottom, unit)
    for at, name in ((gbs / 2, 'half of it'), (gbs, f'peak {amount(gbs)}')) if gbs else ():
        made.line(scale(at), top, scale(at), bottom, 'muted', stroke_dasharray='5 4')
        made.text(scale(at), top - 5, name, 'muted', text_anchor='end')
    for number, line in enumerate(lines):
        y = top + number * ROW + ROW / 2
        made.text(left - 8, y + 4, line.name, text_anchor='end')
        _line(made, line, y, scale)


def _line(made: Picture, line: Line, y: float, scale: Scale) -> None:
    if f := line.figure:
        low, high = (scale(f.value if x is None else x) for x in (f.low, f.high))
        made.line(low, y, high, y, 'one', stroke_width='3')
        if f.reference:
            at = scale(f.reference)
            made.line(at, y - 9, at, y + 9, 'fore', stroke_width='2.5')
    for value, which, who in line.marks:
        made.mark(scale(value), y, which, COLOURS[which], f'{who}: {amount(value)}')
