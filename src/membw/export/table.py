"""The same as one table: a row per figure, and one without a figure where none is believed."""

from membw.moments import utc
from membw.tables import Column, Table

LABELS = ('test', 'system', 'partition', 'environ', 'pinning', 'node', 'group')
FIGURES = ('metric', 'value', 'unit', 'better', 'low', 'high', 'reference', 'ratio')
NUMBERS = ('value', 'low', 'high', 'reference', 'ratio')
COLUMNS = tuple(Column(name, name, name in NUMBERS, optional=True)
                for name in ('time', *LABELS, 'verdict', *FIGURES, 'reason'))  # fmt: skip


def table(rows):
    return Table('', COLUMNS, [line for row in rows for line in _lines(row)])


def _lines(row):
    when = utc(row.time) if row.time else None
    labels = [when, *(row.labels.get(name) for name in LABELS), row.verdict]
    for figure in row.figures:
        yield [*labels, *(getattr(figure, name) for name in FIGURES), row.reason]
    if not row.figures:
        yield [*labels, *(None for _ in FIGURES), row.reason]
