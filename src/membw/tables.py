"""Tables as they are printed: aligned for people, Markdown, CSV and JSON for programs.

A command says what its columns are; this module how they look.
"""

import csv
import io
import json
import os
import sys
from dataclasses import dataclass, field
from typing import NamedTuple

from membw.printable import printable

FORMATS = ('plain', 'md', 'csv', 'json')
# of a terminal, by the verdict
GREEN, RED, YELLOW, CYAN = '32', '31', '33', '36'
COLOURS = {
    **dict.fromkeys(('PASS', 'VALID', 'ACCEPTED'), GREEN),
    **dict.fromkeys(('FAIL', 'REFUSED', 'MISSING', 'XPASS'), RED),
    **dict.fromkeys(('INVALID', 'SUSPECT', 'INCOMPLETE'), YELLOW),
    'KNOWN': CYAN,
}
BOLD = '1'


class Column(NamedTuple):
    """`name` for programs, `title` for people; figures stand at the right."""

    name: str
    title: str
    right: bool = False


class Cell(NamedTuple):
    """A value, and how it is shown where that is not its own text."""

    value: object
    text: str | None = None

    def __str__(self):
        shown = self.text if self.text is not None else self.value
        return printable('' if shown is None else shown)


@dataclass
class Table:
    """Rows of values or Cells, one for each column."""

    title: str
    columns: tuple
    rows: list = field(default_factory=list)

    def __post_init__(self):
        self.rows = [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in self.rows]

    def values(self):
        """A mapping per row, for programs."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, (c.value for c in row), strict=True)) for row in self.rows]

    def texts(self):
        """The lines of cells, titles first, without the columns that nothing is in."""
        lines = [[c.title for c in self.columns], *([str(c) for c in row] for row in self.rows)]
        used = [
            i for i in range(len(self.columns)) if not self.rows or any(r[i] for r in lines[1:])
        ]
        return [[line[i] for i in used] for line in lines], [self.columns[i].right for i in used]


def add_argument(parser, default='plain', formats=FORMATS):
    parser.add_argument('--format', choices=formats, default=default,
                        help=f'of the tables ({default})')  # fmt: skip


def as_text(tables, form='plain', colour=None):
    """All tables in one of FORMATS, without the last newline."""
    if form == 'plain':
        colour = is_coloured() if colour is None else colour
        return '\n\n'.join('\n'.join(_plain(table, colour)) for table in tables)
    return {'md': _markdown, 'csv': _csv, 'json': _json}[form](tables).rstrip('\n')


def is_coloured(stream=None):
    """A terminal that nobody asked to stay plain: https://no-color.org."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'


def painted(text, colour):
    """A verdict in its colour; the spaces around it stay plain."""
    code = COLOURS.get(text.strip().partition(' ')[0].rstrip(':'))
    return f'\x1b[{code}m{text}\x1b[0m' if colour and code else text


def _plain(table, colour):
    lines, rights = table.texts()
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if table.title:
        yield f'\x1b[{BOLD}m{table.title}\x1b[0m' if colour else table.title
    for line in lines:
        cells = [cell.rjust(width) if right else cell.ljust(width)
                 for cell, width, right in zip(line, widths, rights, strict=True)]  # fmt: skip
        while len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        cells[-1] = cells[-1].rstrip()
        yield '  ' + '  '.join(painted(cell, colour) for cell in cells)


def _markdown(tables):
    parts = []
    for table in tables:
        lines, rights = table.texts()
        rule = ['---:' if right else '---' for right in rights]
        rows = [_escaped(lines[0]), rule, *map(_escaped, lines[1:])]
        head = [f'{table.title}\n'] if table.title else []
        parts.append('\n'.join([*head, *(f'| {" | ".join(row)} |' for row in rows)]))
    return '\n\n'.join(parts)


def _escaped(cells):
    return [cell.replace('|', '\\|') for cell in cells]


def _csv(tables):
    """One table of all columns; the first says which of several a row is of."""
    rows = [{'table': table.title, **row} for table in tables for row in table.values()]
    names = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    names = ['table'] * (len(tables) > 1) + names
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction='ignore', lineterminator='\n')
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(tables):
    found = [{'title': table.title, 'rows': table.values()} for table in tables]
    return json.dumps({'schema': 'membw-tables-1', 'tables': found}, indent=1, allow_nan=False)
