"""Tables as they are printed: aligned for people, JSON for programs; membw/report draws them, too.

A command says what its columns are and what stands between its tables; this module how they look.
"""

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from membw.printable import in_locale, printable, signed
from membw.words import WORDS

# of a terminal, by the colour of a word, and of an acceptance
CODES = {'pass': '32', 'fail': '31', 'invalid': '33', 'link': '36'}
COLOURS = {word.name: CODES[word.colour] for word in WORDS}
COLOURS |= {'ACCEPTED': CODES['pass'], 'INCOMPLETE': CODES['invalid']}
COLOURS |= dict.fromkeys(('REFUSED', 'BELOW'), CODES['fail'])
BOLD = '1'
INDENT = '  '
WIDTH = 100
LONGEST = 100  # columns of a sentence on a screen, however wide
LINE = 80  # of a reason; the report has all of it
LEAST = 40  # columns of a text at the end of a row, below which the table is broken instead
JUDGED = ('verdict', 'status')  # columns that begin with such a word
SENTENCE = re.compile(r'(Verdict: )(\w+)')


class Command(str):
    """A line that is copied from the screen: it is never broken."""


class Column(NamedTuple):
    """`name` for programs, `title` for people; figures stand at the right.

    An optional one is not shown where nothing is in it.
    """

    name: str
    title: str
    right: bool = False
    optional: bool = False


class Cell(NamedTuple):
    """A value, and how it is shown where that is not its own text; `link`: an id of a page."""

    value: object
    text: str | None = None
    link: str = ''

    def __str__(self) -> str:
        shown = self.text if self.text is not None else self.value
        return printable('' if shown is None else shown)


def shown(value: float | None, form: str) -> Cell:
    """A figure as people read it; '-' where there is none."""
    return Cell(value, '-' if value is None else signed(value, form))


@dataclass
class Table:
    """Rows: a list of sequences of values or Cells, one for each column.

    `below`: the column that stands, cut, on a line of its own under each row; `note`: what is not
    in it. On a page a folded one is shown on a click on its title.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Any = field(default_factory=list)
    below: str = ''
    note: str = ''
    is_folded: bool = False

    def __post_init__(self) -> None:
        self.rows = [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in self.rows]

    def values(self) -> list[dict[str, object]]:
        names = [column.name for column in self.columns]
        return [dict(zip(names, (c.value for c in row), strict=True)) for row in self.rows]

    def used(self) -> list[int]:
        parts = enumerate(self.columns)
        return [i for i, c in parts if not c.optional or any(str(row[i]) for row in self.rows)]

    def texts(self) -> list[list[str]]:
        """The lines of the used columns' cells, titles first."""
        lines = [[c.title for c in self.columns], *([str(c) for c in row] for row in self.rows)]
        used = self.used()
        return [[line[i] for i in used] for line in lines]


Block = Table | str


def add_argument(
    parser: argparse.ArgumentParser, title: str = 'output'
) -> argparse._MutuallyExclusiveGroup:
    """--json; what is returned adds options that exclude it, and one another."""
    group = parser.add_argument_group(title).add_mutually_exclusive_group()
    group.add_argument('--json', action='store_true', help='print the tables as JSON')
    return group


def as_text(blocks: Iterable[Block], is_json: bool = False, colour: bool | None = None) -> str:
    """Tables and the lines of text between them, without the last newline."""
    if is_json:
        blocks = list(blocks)
        tables = [block for block in blocks if isinstance(block, Table)]
        rows = [{'title': table.title, 'rows': table.values()} for table in tables]
        notes = [block for block in blocks if isinstance(block, str) and block]
        data = {'schema': 'membw-tables-1', 'tables': rows, 'notes': notes}
        return json.dumps(data, indent=1, allow_nan=False)
    if colour is None:  # on a terminal, where colours are wanted: https://no-color.org
        is_plain = os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb'
        colour = sys.stdout.isatty() and not is_plain
    return '\n'.join(line for block in blocks for line in _plain(block, colour))


def painted(word: str) -> str:
    code = COLOURS.get(word)
    return f'\x1b[{code}m{word}\x1b[0m' if code else word


def _plain(block: Block, colour: bool) -> Iterator[str]:
    if isinstance(block, str):
        for line in _wrapped(block):
            yield SENTENCE.sub(lambda m: m[1] + painted(m[2]), line) if colour else line
        return
    if block.title:
        yield f'\x1b[{BOLD}m{block.title}\x1b[0m' if colour else block.title
    yield from _aligned(block, colour)


def _wrapped(block: str) -> list[str]:
    """On a screen a sentence ends where the screen does, or after LONGEST columns."""
    line, most = printable(block, keep='\t'), min(width(), LONGEST)
    if isinstance(block, Command) or len(line) <= most or not is_screen():
        return [line]
    begin = re.match(r' *', line)
    indent = (begin[0] if begin else '') + 2 * INDENT
    how: dict[str, Any] = {'break_long_words': False, 'break_on_hyphens': False}
    return textwrap.wrap(line, most, subsequent_indent=indent, **how)


def _aligned(table: Table, colour: bool) -> Iterator[str]:
    lines = [[in_locale(cell) for cell in line] for line in table.texts()]
    columns = [table.columns[i] for i in table.used()]
    under = next((i for i, c in enumerate(columns) if c.name == table.below), None)
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    shown = [i for i in range(len(columns)) if i != under]
    most = width(sys.maxsize) - len(INDENT)
    gap, parts = fitted(widths, shown, most)
    rest = most - sum(widths[i] + len(gap) for i in shown[:-1])
    is_text = rest >= LEAST and not columns[shown[-1]].right
    if is_text and rest < widths[shown[-1]]:
        parts, widths[shown[-1]] = [shown], 0
    for part in parts:
        for number, line in enumerate(lines):
            cells, more = [], []
            if not widths[part[-1]]:
                line[part[-1]], *more = textwrap.wrap(line[part[-1]], rest) or ['']
            for i in part:
                cell = line[i].rjust(widths[i]) if columns[i].right else line[i].ljust(widths[i])
                if colour and number and columns[i].name in JUDGED:
                    cell = re.sub(r'[A-Z]+', lambda m: painted(m[0]), cell, count=1)
                cells.append(cell)
            yield f'{INDENT}{gap.join(cells)}'.rstrip()
            yield from (f'{" " * (len(INDENT) + most - rest)}{text}' for text in more)
            if under is not None and number and part is parts[-1] and line[under]:
                yield f'      {cut(line[under])}'


def is_screen() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get('COLUMNS'))


def width(otherwise: int = WIDTH) -> int:
    """Columns of a screen: what COLUMNS or the terminal says; a file or a pipe has none."""
    if is_screen():
        return shutil.get_terminal_size((otherwise, 24)).columns
    return otherwise


def cut(text: str, most: int = LINE) -> str:
    most = min(most, width() - 6)
    return text if len(text) <= most else f'{text[: most - 3]}...'


def fitted(widths: list[int], shown: list[int], most: int) -> tuple[str, list[list[int]]]:
    """(what separates columns, the columns of each part of a table): one part where it fits, if
    need be with one blank; else several below each other, each with the first column."""
    for gap in ('  ', ' '):
        if sum(widths[i] + len(gap) for i in shown) - len(gap) <= most:
            return gap, [shown]
    parts = [shown[:1]]
    for i in shown[1:]:
        if len(parts[-1]) > 1 and sum(widths[j] + 2 for j in parts[-1]) + widths[i] > most:
            parts.append(shown[:1])
        parts[-1].append(i)
    return '  ', parts
