"""The section of a benchmark, whatever it measures: pictures and a table of its metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from membw.expected.published import NOT_SAID, stores_of
from membw.grouped import grouped
from membw.printable import in_bytes
from membw.report import record_pictures
from membw.report.charts import MOST, Bar, Curve, bars, lines
from membw.report.model import Picture, Section
from membw.report.svg import Canvas
from membw.results.figure import Figure
from membw.results.record import HIGHER
from membw.results.rows import Row
from membw.results.table import Table as Records
from membw.results.verdict import limits
from membw.summary.full_table import figures_of, place, series_of, table_of, text_of
from membw.tables import Table
from membw.words import FAIL, WORST_FIRST

LEAST_POINTS = 3  # of a curve
COLUMNS = 12  # metrics that a table has as columns; of more it is as the terminal has it
MOST_ROWS = 60  # of a table and of a picture
READ_CURVES = 'Vertical lines: the range in which a rerun is expected.'
# of columns, all others between the reason and the stores: a phone shows the first ones
PLACES = {'node': 0, 'preset': 0, 'pinning': 0, 'verdict': 1, 'reason': 2, 'stores': 4}


def section(
    benchmark: str, rows: Sequence[Row], table: Records, built: Mapping[str, str],
    peak: float | None, is_in_head: bool,
) -> Section:  # fmt: skip
    """`rows` of one benchmark, best first; `peak` in GB/s, where it is known; `built`: the id
    in the page of each provenance; `is_in_head`: the head of the page has the bars already."""
    made = Section(f'test-{benchmark}', benchmark)
    made.conditions = _conditions([table.evidence(r.headline) for r in rows[:8] if r.figures])
    valid = [row for row in rows if row.is_valid]
    best = table.evidence(rows[0].headline) if rows[0].is_valid else {}
    metrics = figures_of(rows)
    in_series = {name for row in rows for name, f in row.figures.items() if f.series}
    pairs = best.get('pairs')
    in_maps = {
        str(p.get('metric'))
        for p in (pairs if isinstance(pairs, list) else ())
        if isinstance(p, dict)
    }
    single = [name for name in metrics if name not in in_series | in_maps]
    heads = [row.headline.metric for row in rows if row.figures]
    single = [name for name in single if name in heads] or single
    is_fleet = len({row.node for row in rows if row.node}) > 1  # drawn as a ranking
    if 0 < len(single) <= COLUMNS and valid and not is_fleet and not is_in_head:
        made.pictures = [bar_picture(single[0], rows, peak)]
    made.pictures += [picture for row in valid[:MOST] for picture in _curves(row)]
    made.pictures += record_pictures.drawn(best, valid, table)
    if len(metrics) > COLUMNS:
        tables = series_of(benchmark, [*rows[:MOST]], metrics)
        made.tables = [
            replace(t, title=t.title or 'other figures', is_folded=True)
            for t in tables
            if isinstance(t, Table)
        ]
    else:
        made.tables = [_metrics_across(rows, built)]
        made.tables[0].is_folded = is_fleet
    return made


def _conditions(records: Sequence[dict]) -> str:
    """Array size, threads and kind of stores: 'Measured with arrays of 120 MiB, 2 threads.'"""
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


def bar_picture(metric: str, rows: Sequence[Row], peak: float | None = None) -> Picture:
    """One metric of the rows; an INVALID row has no bar."""
    rows = [row for row in rows if metric in row.figures]
    figure, shown = rows[0].figures[metric], rows[:MOST_ROWS]
    several = len({row.node for row in shown if row.node}) > 1
    many = [_bar(row, row.figures[metric], several) for row in shown]
    known = peak if figure.unit == 'GB/s' and figure.better == HIGHER else None
    title = f'{title_of(figure)}, {figure.unit} ({figure.better} is better)'
    signs = {bar.sign for bar in many}
    has_interval = any(bar.low is not None and bar.low != bar.high for bar in many)
    more = len(rows) - len(shown)
    parts = {  # what is drawn, and nothing else
        'Bar: the figure.': True,
        'Whiskers: the range in which a rerun is expected.': has_interval,
        'Arrow to the right: a lower bound, the true figure is higher.': signs & {'≥ ', '~ '},
        'Pale, arrow to the left: an upper bound, the true figure is lower.': signs & {'≤ ', '~ '},
        'Thick line: the reference, in the range that passes.': any(b.reference for b in many),
        f'{more} more rows are in membw export.': more,
    }
    how_to_read = ' '.join(text for text, is_drawn in parts.items() if is_drawn)
    return Picture(title, lambda width: bars(many, figure.unit, known, width), how_to_read)


def _bar(row: Row, figure: Figure, with_node: bool) -> Bar:
    name = f'{row.node} {row.name}' if with_node else row.name
    if not row.is_valid:
        return Bar(name, None, f'{row.word}: {row.reason}'[:60])
    f, is_fail = figure, row.word == FAIL
    reference = (f.reference, *limits(f)) if f.reference else None
    return Bar(name, f.value, text_of(f), f.low, f.high, f.sign, reference, is_fail)


def _curves(row: Row) -> list[Picture]:
    """A picture per unit and axis: a curve for each series of enough points."""
    places = [(f, [*(f.at or {}).items()]) for f in row.figures.values() if f.series]
    points = (
        ((f.unit, at[0][0], f.series), (float(at[0][1]), f.value, f.low, f.high))
        for f, at in places
        if len(at) == 1 and isinstance(at[0][1], int | float)
    )
    series = grouped(points).items()
    kinds = grouped(((u, x), Curve(n, of)) for (u, x, n), of in series if len(of) >= LEAST_POINTS)
    return [_curve_picture(row, *kind, curves) for kind, curves in kinds.items()]


def _curve_picture(row: Row, unit: str, axis: str, curves: list[Curve]) -> Picture:
    more = len(curves) - MOST
    curves = curves[:MOST]
    numbers = [point[0] for curve in curves for point in curve.points]
    values = [point[1] for curve in curves for point in curve.points]
    is_bytes = axis == 'bytes'
    log_x = is_bytes or max(numbers) > 16 * min(numbers) > 0
    log_y = max(values) > 20 * min(values) > 0
    name_x = in_bytes if is_bytes else '{:g}'.format
    note = f' {more} more curves are in the table.' if more > 0 else ''

    def of_width(width: int) -> Canvas:
        return lines(curves, axis, unit, width, log_x, log_y, name_x)

    return Picture(f'{row.name} on {row.node}, {unit}', of_width, READ_CURVES + note)


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
    order = sorted(range(len(names)), key=lambda n: PLACES.get(names[n], 3))
    columns = tuple(table.columns[n] for n in order)
    return Table(table.title, columns, [[row[n] for n in order] for row in table.rows])
