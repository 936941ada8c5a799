"""The section of what to expect: the shares of the peak that others reach, and this node's."""

from collections.abc import Mapping
from typing import Any

from membw.expected import expectation, proof, published
from membw.expected.published import READ, kind_of
from membw.expected.sentence import named
from membw.report.model import Picture, Section
from membw.report.svg import LETTER, LINE, Canvas, Scale, x_axis
from membw.site import cpu_peak as peak
from membw.tables import Table

ROW = 26  # pixels of a kind of stores
HALF = 50.0
HOW = (
    'Circle: another machine, of this CPU or a neighbour. Square: this node, as counted. '
    'Triangle: the most that it may have moved. Half of the peak is dashed.'
)


def section(record: Mapping[str, Any]) -> Section | None:
    """None where the peak is not known, or nothing else is."""
    top = peak.of_node(dict(record))
    if not top.gbs or top.only_if or top.is_slice:
        return None
    made = Section('expected', 'What to expect')
    blocks = [*expectation.blocks(top, record.get('facts') or {})]
    made.notes = [block for block in blocks if isinstance(block, str) and block]
    made.tables = [block for block in blocks if isinstance(block, Table)]
    rows = shares(record, top)
    if rows:
        title = 'Shares of the peak, %'
        made.pictures = [Picture(title, lambda width: picture(rows, width), HOW)]
    return made


def shares(record: Mapping[str, Any], top: peak.Peak) -> dict[str, list[tuple[int, float, str]]]:
    """{kind of stores: (0 another's, 1 this node's, 2 what it moved; %; its name)}."""
    rows: dict[str, list[tuple[int, float, str]]] = {}
    for kind in ('ordinary', 'claimed', 'non-temporal', published.NOT_SAID, READ):
        for row in published.like(top, kind):
            of = published.shares([row])
            rows.setdefault(kind, []).extend((0, share, row['machine']) for share in of)
    every = {m.kernel: m for m in proof.moved(dict(record), top.row)}
    for kernel in ('triad', 'read'):
        if kernel in every:
            own, kind = every[kernel], kind_of(dict(record), top.row, kernel)
            marks = [(1, 100 * own.counted / top.gbs, f'this node, {kernel}')]
            if own.most > own.counted:
                marks.append((2, 100 * own.most / top.gbs, f'this node, {kernel}, moved'))
            rows.setdefault(kind, []).extend(marks)
    return rows


def picture(rows: Mapping[str, list[tuple[int, float, str]]], width: int) -> Canvas:
    left = 12 + LETTER * max(len(named(kind)) for kind in rows)
    bottom = 8.0 + ROW * len(rows)
    canvas = Canvas(width, bottom + 2 * LINE + 8)
    ends = [share for marks in rows.values() for _, share, _ in marks]
    scale = Scale([0.0, 100.0, *ends], left, width - 14)
    x_axis(canvas, scale, 4, bottom, '% of the peak')
    canvas.line(scale(HALF), 4, scale(HALF), bottom, 'muted', stroke_dasharray='5 4')
    for number, (kind, marks) in enumerate(rows.items()):
        y = 8 + ROW * (number + 0.5)
        canvas.text(left - 8, y + 4, named(kind), text_anchor='end')
        for which, share, who in marks:
            colour = ('muted', 'one', 'two')[which]
            canvas.mark(scale(share), y, which, colour, f'{who}: {share:.0f} %')
    return canvas
