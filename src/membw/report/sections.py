"""The section of a benchmark, whatever it measures: pictures and a table of its metrics."""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from membw.possible import published
from membw.report.charts import MOST, Bar, Curve, bars, lines
from membw.report.model import Picture, Section
from membw.results.rows import Row
from membw.results.table import HIGHER, Figure
from membw.results.verdict import FAIL, WORST_FIRST
from membw.summary.full_table import cell, figures_of, in_bytes, table_of, text_of
from membw.tables import Column, Table

FEWEST = 3  # points of a curve
COLUMNS = 12  # metrics that a table has as columns; of more it has a line each
MOST_ROWS = 60  # of a table and of a picture
READ_CURVES = 'Vertical lines: the range in which a rerun is expected.'


def section(
    benchmark: str,
    rows: Sequence[Row],
    built: Mapping[str, str],
    peak: float | None,
    is_in_head: bool = False,
    not_drawn: Container[str] = (),
) -> Section:
    """`rows` of one benchmark, best first; `peak` in GB/s, where it is known; `built`: the id
    in the page of each provenance.

    `is_in_head`: the head of the page has the picture of the last metric already; `not_drawn`:
    metrics that have a picture of their own.
    """
    made = Section(f'test-{benchmark}', benchmark)
    metrics = list(dict.fromkeys(name for row in rows for name in row.figures))
    drawn = [name for name in metrics if name not in not_drawn]
    curves = curves_of(rows)
    in_series = {name for row in rows for name, f in row.figures.items() if f.series}
    single = [name for name in drawn if name not in in_series]
    heads = [row.headline.metric for row in rows if row.figures]
    single = [name for name in single if name in heads] or single
    is_fleet = len({row.node for row in rows if row.node}) > 1  # drawn as a ranking
    is_any = any(row.is_valid for row in rows)
    if 0 < len(single) <= COLUMNS and is_any and not is_fleet:
        made.pictures = [] if is_in_head else [bar_picture(single[0], rows, peak)]
    valid = [row for row in rows if row.is_valid]
    made.pictures += [p for row in valid[:MOST] for p in _curve_pictures(row, curves)]
    if len(metrics) > COLUMNS:
        made.tables = [_metrics_down(rows)]
    else:
        made.tables = [_metrics_across(rows, built)]
        made.tables[0].is_folded = is_fleet
    return made


def conditions_of(records: Sequence[dict]) -> str:
    """Array size, threads and kind of stores: 'Measured with arrays of 120 MiB, 2 threads.'"""
    sizes = {r['array_size'] * r.get('element_bytes', 8) for r in records if r.get('array_size')}
    threads = {r['threads'] for r in records if r.get('threads')}
    stores = {published.stores_of((r.get('case') or {}).get('stores') or '') for r in records}
    stores -= set() if sizes else stores
    parts = (
        ('arrays of {}', map(in_bytes, sorted(sizes))),
        ('{} threads' if threads != {1} else '{} thread', map(str, sorted(threads))),
        ('{} stores', sorted(stores - {published.NOT_SAID})),
    )
    said = [text.format(' and '.join(known)) for text, of in parts if (known := [*of])]
    return f'Measured with {", ".join(said)}.' if said else ''


# --- bars --------------------------------------------------------------------------------------


def bar_picture(metric: str, rows: Sequence[Row], peak: float | None = None) -> Picture:
    """One metric of the rows; an INVALID row has no bar."""
    shown = [row for row in rows if metric in row.figures][:MOST_ROWS]
    figure = shown[0].figures[metric]
    several = len({row.node for row in shown if row.node}) > 1
    many = [_bar(row, row.figures[metric], several) for row in shown]
    known = peak if figure.unit == 'GB/s' and figure.better == HIGHER else None
    better = 'higher is better' if figure.better == HIGHER else 'lower is better'
    more = len([row for row in rows if metric in row.figures]) - len(shown)
    note = f' {more} more rows are in membw export.' if more else ''
    title = f'{metric_name(metric)}, {figure.unit} ({better})'
    return Picture(
        title, lambda width: bars(many, figure.unit, known, width, title), how_to_read(many) + note
    )


def how_to_read(many: Sequence[Bar]) -> str:
    """What is drawn, and nothing else."""
    signs = {bar.sign for bar in many}
    parts = {
        'Whiskers: the range in which a rerun is expected.': any(
            bar.low is not None and bar.low != bar.high for bar in many
        ),
        'Arrow to the right: a lower bound, the true figure is higher.': signs & {'≥ ', '~ '},
        'Pale, arrow to the left: an upper bound, the true figure is lower.': signs & {'≤ ', '~ '},
        'Thick line: the reference, in the range that passes.': any(b.reference for b in many),
    }
    return ' '.join(['Bar: the figure.', *(text for text, is_drawn in parts.items() if is_drawn)])


def metric_name(metric: str) -> str:
    """'Memory triad all' of memory_triad_all."""
    return metric.capitalize().replace('_', ' ')


def _bar(row: Row, figure: Figure, with_node: bool) -> Bar:
    name = f'{row.node} {row.name}' if with_node else row.name
    if not row.is_valid:
        return Bar(name, None, f'{row.word}: {row.reason}'[:60])
    reference = None
    if figure.reference:
        low, high = (
            None if part is None else figure.reference * (1 + part)
            for part in (figure.reference_low, figure.reference_high)
        )
        reference = figure.reference, low, high
    return Bar(
        name,
        figure.value,
        text_of(figure),
        figure.low,
        figure.high,
        figure.sign,
        reference,
        row.word == FAIL,
    )


# --- curves ------------------------------------------------------------------------------------


def curves_of(rows: Sequence[Row]) -> dict[str, tuple[str, str, float]]:
    """{metric: (curve, axis, number)} of the metrics that are points of a curve."""
    found: dict[str, tuple[str, str, float]] = {}
    count: dict[tuple[str, str], int] = defaultdict(int)
    for name, f in {name: f for row in rows for name, f in row.figures.items()}.items():
        ((axis, number), *more) = [*(f.at or {}).items()] or [('', '')]
        if f.series and not more and isinstance(number, int | float):
            found[name] = f.series, axis, float(number)
            count[f.series, axis] += 1
    return {name: point for name, point in found.items() if count[point[:2]] >= FEWEST}


def _curve_pictures(row: Row, curves: dict[str, tuple[str, str, float]]) -> list[Picture]:
    """A picture per unit and axis of the curves of one row."""
    every: dict[tuple[str, str], dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for name, (curve, axis, number) in curves.items():
        if name in row.figures:
            f = row.figures[name]
            every[f.unit, axis][curve].append((number, f.value, f.low, f.high))
    return [_curve_picture(row, *kind, of) for kind, of in every.items()]


def _curve_picture(row: Row, unit: str, axis: str, points: dict[str, list]) -> Picture:
    made = [Curve(name, of) for name, of in list(points.items())[:MOST]]
    numbers = [point[0] for curve in made for point in curve.points]
    values = [point[1] for curve in made for point in curve.points]
    is_bytes = axis == 'bytes'
    is_log = max(values) > 20 * min(values) > 0
    title = f'{row.name} on {row.node}, {unit}'
    left_out = len(points) - len(made)
    note = f' {left_out} more curves are in the table.' if left_out else ''
    return Picture(
        title,
        lambda width: lines(
            made,
            axis,
            unit,
            width,
            title,
            log_x=is_bytes or max(numbers) > 16 * min(numbers) > 0,
            log_y=is_log,
            name_x=in_bytes if is_bytes else '{:g}'.format,
        ),
        READ_CURVES + note,
    )


# --- tables ------------------------------------------------------------------------------------


def _metrics_across(rows: Sequence[Row], built: Mapping[str, str]) -> Table:
    """The terminal's: a line per row; worst verdict first in what is left of a long one."""
    shown = list(rows)
    if len(shown) > MOST_ROWS:  # what is wrong, and then the slowest
        worst_first = sorted(shown[::-1], key=lambda row: WORST_FIRST.index(row.word))
        shown = worst_first[:MOST_ROWS]
    title = 'All rows'
    if len(rows) > len(shown):
        title = f'{len(shown)} of {len(rows)} rows: what is not PASS, then the slowest'
    table = verdict_first(table_of(title, shown, figures_of(rows)))
    preset = [column.name for column in table.columns].index('preset')
    for line, row in zip(table.rows, shown, strict=True):
        if row.figures:
            line[preset] = line[preset]._replace(link=built[row.headline.of.key])
    return table


def verdict_first(table: Table) -> Table:
    """Verdict and reason before the figures, stores behind: a phone shows the first columns."""
    names = [column.name for column in table.columns]
    places = {'node': 0, 'preset': 0, 'pinning': 0, 'verdict': 1, 'reason': 2, 'stores': 4}
    order = sorted(range(len(names)), key=lambda n: places.get(names[n], 3))
    columns = tuple(table.columns[n] for n in order)
    return Table(table.title, columns, [[row[n] for n in order] for row in table.rows])


def _metrics_down(rows: Sequence[Row]) -> Table:
    """A line per metric, a column per row."""
    shown, named = rows[:COLUMNS], figures_of(rows)
    titles = (f'{row.name}: {row.word}' for row in shown)
    columns = [Column('metric', 'metric'), Column('unit', 'unit')]
    columns += [Column(title, title, True) for title in titles]
    lines_ = [[name, unit, *(cell(row, name) for row in shown)] for name, unit in named.items()]
    table = Table('Table of all metrics', tuple(columns), lines_, is_folded=True)
    if len(rows) > len(shown):
        table.note = f'{len(rows) - len(shown)} more rows: membw export --format csv'
    return table
