"""The section of a benchmark, whatever it measures: curves and a table of its metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from membw.expected.published import NOT_SAID, stores_of
from membw.printable import in_bytes
from membw.report.charts import MOST
from membw.report.curves import curves
from membw.report.model import Section
from membw.results.figure import Figure
from membw.results.rows import Row
from membw.results.table import Table as Records
from membw.summary.full_table import figures_of, place, series_of, table_of
from membw.tables import Table
from membw.words import WORST_FIRST

COLUMNS = 12  # metrics that a table has as columns; of more it is as the terminal has it
MOST_ROWS = 60  # of a table
# of columns, all others before the stores: a phone shows the first ones
PLACES = {'node': 0, 'preset': 0, 'pinning': 0, 'verdict': 1, 'stores': 3}


def section(
    benchmark: str, rows: Sequence[Row], table: Records, built: Mapping[str, str]
) -> Section:
    """`rows` of one benchmark, best first; `built`: the id in the page of each provenance."""
    made = Section(f'test-{benchmark}', benchmark, conditions=conditions(rows, table))
    made.pictures = [one for row in rows[:MOST] if row.is_valid for one in curves(row)]
    metrics = figures_of(rows)
    if len(metrics) <= COLUMNS:
        made.tables = [_metrics_across(rows, built)]
        return made
    for block in series_of(benchmark, [*rows[:MOST]], metrics):
        if isinstance(block, Table):
            title = block.title or 'other figures'
            made.tables.append(replace(block, title=title, is_folded=True))
    return made


def conditions(rows: Sequence[Row], table: Records) -> str:
    """Array size, threads and kind of stores: 'Measured with arrays of 120 MiB, 2 threads.'"""
    records = [table.evidence(row.headline) for row in rows[:8] if row.figures]
    both = [(r.get('array_size'), r.get('element_bytes')) for r in records]
    sizes = {size * (of if isinstance(of, int) else 8) for size, of in both if size}
    threads = {r['threads'] for r in records if r.get('threads')}
    stores = {stores_of(r) for r in records}
    stores -= {NOT_SAID} if sizes else stores
    parts = (
        ('arrays of {}', map(in_bytes, sorted(sizes))),
        ('{} threads' if threads != {1} else '{} thread', map(str, sorted(threads))),
        ('{} stores', sorted(stores)),
    )
    said = [text.format(' and '.join(known)) for text, of in parts if (known := [*of])]
    return f'Measured with {", ".join(said)}.' if said else ''


def title_of(figure: Figure) -> str:
    """'Memory triad all' of memory_triad_all, 'Triad, cpu domain 0, memory domain 1'."""
    where = [f'{name} {place({name: x})}' for name, x in (figure.at or {}).items()]
    name = figure.series.removesuffix('_gbs') if where else figure.metric
    return ', '.join([name.capitalize(), *where]).replace('_', ' ')


def _metrics_across(rows: Sequence[Row], built: Mapping[str, str]) -> Table:
    """The terminal's: a line per row. Of a long one: what is wrong, and then the slowest."""
    shown, title = rows, 'All rows'
    if len(rows) > MOST_ROWS:
        worst_first = sorted(rows[::-1], key=lambda row: WORST_FIRST.index(row.word))
        shown = worst_first[:MOST_ROWS]
        title = f'{MOST_ROWS} of {len(rows)} rows: what is not PASS, then the slowest'
    table = table_of(title, shown, figures_of(rows))
    names = [column.name for column in table.columns]
    for line, row in zip(table.rows, shown, strict=True):
        if row.figures:
            preset = names.index('preset')
            line[preset] = line[preset]._replace(link=built[row.headline.of.key])
    every = (n for n, name in enumerate(names) if name != 'reason')  # the head of the page has it
    order = sorted(every, key=lambda n: PLACES.get(names[n], 2))
    columns = tuple(table.columns[n] for n in order)
    return Table(table.title, columns, [[row[n] for n in order] for row in table.rows])
