"""The tables of a whole run: one per test, a row for each preset, pinning and parameters."""

import math
from collections.abc import Iterator, Mapping, Sequence

from membw.grouped import grouped
from membw.printable import amount, at_most, decimals, in_bytes, plural, printable, signed
from membw.results.figure import Figure
from membw.results.hostlist import fold, read_node_check
from membw.results.rows import Row
from membw.site.cpu_peak import peak_of
from membw.tables import Cell, Column, Table, cut
from membw.words import INVALID, PASS

WIDE = 8  # figures that fit a line
NODES = 40  # lines on nodes of a whole cluster that are not PASS


def blocks_of(rows: list[Row]) -> Iterator[Table | str]:
    for (test, where), members in grouped(((r.test, r.case.where), r) for r in rows).items():
        yield ''
        title = f'{test} on {where}{conditions(members)}'
        metrics = figures_of(members)
        if any(row.record.get('printed') for row in members):  # as `ladder` its staircase
            for row in members:
                yield f'{title}: {row.preset}'
                yield from map(printable, row.record.get('printed') or [])
                yield f'{row.word}  {cut(row.reason)}'.rstrip()
        elif len(metrics) <= WIDE:
            yield table_of(title, members, metrics)
        else:
            yield from series_of(title, members, metrics)
        for row in members:
            yield from node_lines(row)


def figures_of(rows: Sequence[Row]) -> dict[str, str]:
    """{name: unit} of all that any row measured, in their order."""
    named: dict[str, str] = {}
    for row in rows:
        named |= {name: figure.unit for name, figure in row.figures.items() if name not in named}
    return named


def cell(row: Row, name: str) -> Cell:
    """'45.8 ±4.6', '≥ 37.2'; '-' where there is none, or it is wrong."""
    if row.word == INVALID or name not in row.figures:
        return Cell(None, '-')
    return Cell(row.figures[name].value, text_of(row.figures[name]))


def text_of(figure: Figure) -> str:
    if figure.is_bound:
        return f'{figure.sign}{digits(figure.value)}'
    if figure.low is None or figure.high is None:
        return digits(figure.value)
    half = max(figure.high - figure.value, figure.value - figure.low)
    shown = digits(figure.value)
    places = len(shown.partition('.')[2])
    up = math.ceil(half * 10**places - 1e-9) / 10**places  # so that it holds
    return f'{shown} ±{up:.{places}f}' if half else shown


def digits(value: float) -> str:
    """One digit after the point, more of what is small; none of what is whole."""
    if isinstance(value, int):
        return str(value)
    return decimals(value, 1 if value >= 10 else 2)


def table_of(title: str, rows: Sequence[Row], metrics: dict[str, str]) -> Table:
    units = set(metrics.values())
    names = sorted({name for row in rows for name in row.parameters})
    names = [n for n in names if n == 'pinning' or len({r.parameters.get(n) for r in rows}) > 1]
    heads = [n.capitalize() if len(units) == 1 else f'{n}, {u}' for n, u in metrics.items()]
    several = len({row.node for row in rows if row.node}) > 1
    columns = [
        Column('node', 'node', optional=True),
        Column('preset', 'preset'),
        *(Column(name, name, optional=True) for name in names),
        Column('stores', 'stores', optional=True),
        *(Column(n, head, True) for n, head in zip(metrics, heads, strict=True)),
        Column('of_peak', 'of peak', True, True),
        Column('reference', 'to reference', True, True),
        Column('verdict', 'verdict'),
        Column('reason', '', optional=True),
    ]
    lines = []
    for row in rows:
        parameters = [row.parameters.get(name, '') for name in names]
        figures = [cell(row, name) for name in metrics]
        lines.append([row.node if several else '', row.preset, *parameters, row.stores, *figures,
                      of_peak(row), to_reference(row), row.word, row.reason])  # fmt: skip
    unit = f', {units.pop()}' if len(units) == 1 else ''
    return Table(f'{title}{unit}', tuple(columns), lines, below='reason')


def of_peak(row: Row) -> Cell:
    """The headline, where it is a bandwidth (STREAM's: Triad), as a part of the peak."""
    peak, _ = peak_of(row.record)
    is_rate = row.is_valid and row.headline.unit == 'GB/s'
    share = row.headline.value / peak if peak and is_rate else None
    return Cell(share, '' if share is None else f'{share:.0%}')


def to_reference(row: Row) -> Cell:
    """'triad -11%': the metric that misses its reference most."""
    compared = [f for f in row.figures.values() if f.reference]
    if not compared or row.word == INVALID:
        return Cell(None, '')
    worst = min(compared, key=lambda f: f.share(f.reference or 1.0))
    part = worst.value / (worst.reference or 1.0)
    return Cell(part, f'{worst.metric} {signed(part - 1)}')


# --- more figures than a line holds


def series_of(title: str, rows: list[Row], metrics: dict[str, str]) -> Iterator[Table | str]:
    """A table per row: a line for each number of threads or of bytes, a column for each series.
    Other figures: a line each."""
    every = {name: f for row in rows for name, f in row.figures.items()}
    points = {(f.series, place(f.at)): name for name, f in every.items() if f.series}
    units = {f.series: f.unit for f in every.values() if f.series}
    heads = Column('at', ''), *(Column(n, f'{n}, {unit}', True) for n, unit in units.items())
    plain = Column('figure', 'figure'), Column('value', 'value', True), Column('unit', '')
    for row in rows:
        label = ' '.join([row.preset, *row.parameters.values()])
        if row.word != INVALID:
            at = dict.fromkeys(at for _, at in points)
            lines = [[n, *(cell(row, points.get((of, n), '')) for of in units)] for n in at]
            others = [[n, cell(row, n), u] for n, u in metrics.items() if not every[n].series]
            tables = [(heads, lines)] * bool(lines) + [(plain, others)] * bool(others)
            for number, table in enumerate(tables):
                yield Table('' if number else f'{title}: {label}', *table)
        yield '  ' + '  '.join(filter(None, [row.word, label, cut(row.reason)]))


def place(at: Mapping[str, float | str] | None) -> str:
    """'8', '4 KiB', '0, 1': where a point of a series lies."""
    every = (at or {}).items()
    parts = (in_bytes(v) if k == 'bytes' and not isinstance(v, str) else v for k, v in every)
    return ', '.join(amount(part, 6) if isinstance(part, float) else str(part) for part in parts)


# --- what is the same of all rows


def conditions(rows: list[Row]) -> str:
    """Array size, threads and node, where the records agree on them."""
    records = [row.record for row in rows if row.record]
    sizes, threads = ({r[key] for r in records if r.get(key)} for key in ('array_size', 'threads'))
    peaks = {peak for record in records if (peak := peak_of(record)[0])}
    hosts = {r['host'] for r in records if r.get('host')}
    parts = [f'{plural(n, "element")} per array' for n in sizes if len(sizes) == 1]
    parts += [plural(n, 'thread') for n in threads if len(threads) == 1]
    parts += [f'peak {peak:g} GB/s' for peak in peaks if len(peaks) == 1]
    parts += [f'node {", ".join(sorted(hosts))}'] if 0 < len(hosts) < 4 else []
    return f': {", ".join(parts)}' if parts else ''


def node_lines(row: Row) -> Iterator[str]:
    """Of a whole-cluster run: how many nodes are what, and those that are not PASS, by reason."""
    case = row.attempts[-1].case
    lines = read_node_check(case.node_check or '.')
    if not lines:
        return
    alike = grouped((line.removeprefix(n), n) for n, verdict, line in lines if verdict != PASS)
    bad = [(fold(nodes) if nodes[1:] else nodes[0]) + why for why, nodes in alike.items()]
    yield f'  {row.preset}: {case.nodes}'
    yield from (f'  {printable(line)}' for line in at_most(bad, NODES))
