"""Pictures of what records have besides metrics: curves of `ladder` and `loaded`."""

import statistics
from collections import defaultdict

from membw.report.charts import Curve, lines
from membw.report.model import Picture
from membw.summary.full_table import in_bytes

LATENCIES = {'latency_2m_ns': 'pages of 2 MiB', 'latency_4k_ns': 'pages of 4 KiB'}
RATES = {
    'read_one_gbs': 'read, one thread',
    'triad_one_gbs': 'Triad, one thread',
    'read_all_gbs': 'read, all threads',
    'triad_all_gbs': 'Triad, all threads',
}
READ_LADDER = (
    'Steps are levels of memory: each curve is flat within one. The median of the rounds, their '
    'range as a band; dashed lines are the declared caches.'
)
READ_LOADED = (
    'Latency of one thread while all other threads move memory; where it rises steeply '
    'memory is saturated. The median of the rounds; the band is the range of their latencies.'
)


def pictures(record: dict) -> list[Picture]:
    """[]: the record has no curves."""
    points = record.get('points')
    if isinstance(points, dict) and record.get('sizes'):
        return [_ladder(record, LATENCIES, 'ns'), _ladder(record, RATES, 'GB/s')]
    return [_loaded(record['host'], points)] if isinstance(points, list) else []


def _ladder(record: dict, names: dict[str, str], unit: str) -> Picture:
    """A curve of each kind: `points` has a row per round, with null where it is not known."""
    curves = []
    for key, name in names.items():
        rounds = zip(*(record['points'].get(key) or ()), strict=True)
        known = ([v for v in of if v] for of in rounds)
        points = [(float(n), *_range(of)) for n, of in zip(record['sizes'], known) if of]
        curves.append(Curve(name, points, is_band=True))
    caches = enumerate(record.get('declared_bytes', []), 1)
    declared = [(float(size), f'L{n} {in_bytes(size)}') for n, size in caches]
    title = f'{"Latency" if unit == "ns" else "Bandwidth"} by working set of {record["host"]}'
    return Picture(
        title,
        lambda width: lines(
            curves, 'bytes per thread', unit, width, title, True, True, in_bytes, declared=declared
        ),
        READ_LADDER,
    )


def _range(values: list[float]) -> tuple[float, float, float]:
    """(median, lowest, highest) of some rounds."""
    return statistics.median(values), min(values), max(values)


def _loaded(host: str, points: list[dict]) -> Picture:
    by_mix: dict[str, dict[float, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        if point.get('counts') and point.get('ns'):
            by_mix[point['mix']][point['part']].append(point)
    curves = []
    for mix, parts in by_mix.items():
        rates = [statistics.median(point['gbs'] for point in of) for of in parts.values()]
        ranges = [_range([point['ns'] for point in of]) for of in parts.values()]
        middle = [(rate, *latency) for rate, latency in zip(rates, ranges, strict=True)]
        curves.append(Curve(mix, middle, is_band=True))
    title = f'Latency under traffic of {host}'
    return Picture(
        title, lambda width: lines(curves, 'GB/s of traffic', 'ns', width, title), READ_LOADED
    )
