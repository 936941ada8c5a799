"""The curves of a benchmark: of its series, of the working sets of `ladder`, of the traffic of
`loaded`."""

import statistics
from collections.abc import Iterator, Sequence

from membw.grouped import grouped
from membw.printable import in_bytes
from membw.report.charts import MOST, Axes, Curve, picture
from membw.report.model import Picture
from membw.results.rows import Row
from membw.results.table import Table

LATENCIES = {'latency_2m_ns': 'pages of 2 MiB', 'latency_4k_ns': 'pages of 4 KiB'}
RATES = {
    'read_one_gbs': 'read, one thread',
    'triad_one_gbs': 'Triad, one thread',
    'read_all_gbs': 'read, all threads',
    'triad_all_gbs': 'Triad, all threads',
}
READ_SERIES = 'The band is the range in which a rerun is expected.'
READ_LADDER = (
    'Each level of memory is a step. The median of the rounds, their range as a band; '
    'dashed lines are the declared caches.'
)
READ_LOADED = (
    'Latency of one thread while all other threads move memory: where it rises steeply, memory is '
    'saturated. The median of the rounds, their range as a band.'
)


def curves(valid: Sequence[Row], table: Table) -> list[Picture]:
    """Of the valid rows of a benchmark, best first. No schema declares what only the record has:
    what is damaged is no picture."""
    made = [one for row in valid[:MOST] for one in _of_series(row)]
    if not valid:
        return made
    f = valid[0].headline
    try:
        return made + _of_record(table.evidence(f))
    except (TypeError, ValueError, LookupError, AttributeError) as err:
        what = f'{valid[0].test}: its evidence cannot be drawn ({type(err).__name__}: {err})'
        table.problems.append(f'{f.file}: {what}')
        return made


def _of_series(row: Row) -> Iterator[Picture]:
    """A picture per unit and axis."""
    places = [(f, [*(f.at or {}).items()]) for f in row.figures.values() if f.series]
    points = grouped(
        ((f.unit, at[0][0], f.series), (float(at[0][1]), f.value, f.low, f.high))
        for f, at in places
        if len(at) == 1 and isinstance(at[0][1], int | float)
    )
    kinds = grouped(((unit, x), Curve(name, of)) for (unit, x, name), of in points.items())
    for (unit, x), of in kinds.items():
        numbers = [point[0] for curve in of for point in curve.points]
        values = [point[1] for curve in of for point in curve.points]
        is_bytes = x == 'bytes'
        log_x = is_bytes or max(numbers) > 16 * min(numbers) > 0
        log_y = max(values) > 20 * min(values) > 0
        how = READ_SERIES * any(low is not None for curve in of for _, _, low, _ in curve.points)
        axes = Axes(x, unit, log_x, log_y, in_bytes if is_bytes else '{:g}'.format)
        yield from picture(f'{row.name} on {row.node}, {unit}', of, axes, how)


def _of_record(record: dict) -> list[Picture]:
    points = record.get('points')
    if isinstance(points, dict) and record.get('sizes'):
        latency = _ladder(record, points, LATENCIES, 'Latency', 'ns')
        return latency + _ladder(record, points, RATES, 'Bandwidth', 'GB/s')
    return _loaded(record['host'], points) if isinstance(points, list) else []


def _ladder(
    record: dict, points: dict, names: dict[str, str], what: str, unit: str
) -> list[Picture]:
    """`points` has a row per round, with null where it is not known."""
    sizes = enumerate(record.get('declared_bytes', []), 1)  # of caches
    declared = [(float(n), f'L{level} {in_bytes(n)}') for level, n in sizes]
    axes = Axes('bytes per thread', unit, True, True, in_bytes, declared=declared)
    made = []
    for key, name in names.items():
        rounds = zip(*(points.get(key) or ()), strict=True)
        known = ([float(v) for v in of if v] for of in rounds)
        pairs = zip(record['sizes'], known, strict=False)
        made.append(Curve(name, [(float(n), *_range(of)) for n, of in pairs if of]))
    return picture(f'{what} by working set of {record["host"]}', made, axes, READ_LADDER)


def _loaded(host: str, points: list[dict]) -> list[Picture]:
    counted = (p for p in points if p.get('counts') and p.get('ns'))
    made = []
    for mix, of_mix in grouped((point['mix'], point) for point in counted).items():
        parts = grouped((point['part'], point) for point in of_mix).values()
        rates = [statistics.median(float(point['gbs']) for point in of) for of in parts]
        ranges = [_range([float(point['ns']) for point in of]) for of in parts]
        made.append(Curve(str(mix), [(rate, *ns) for rate, ns in zip(rates, ranges, strict=True)]))
    axes = Axes('GB/s of traffic', 'ns')
    return picture(f'Latency under traffic of {host}', made, axes, READ_LOADED)


def _range(values: list[float]) -> tuple[float, float, float]:
    """(median, lowest, highest) of some rounds."""
    return statistics.median(values), min(values), max(values)
