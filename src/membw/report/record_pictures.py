"""Pictures of what records have besides metrics: curves of `ladder` and `loaded`, maps of `tiers`
and `pingpong`."""

import functools
import statistics
from collections.abc import Sequence

from membw.grouped import grouped
from membw.printable import amount, in_bytes
from membw.report.charts import Curve, heat_map, lines
from membw.report.model import NARROW, Picture
from membw.report.svg import Canvas
from membw.results.rows import Row
from membw.results.table import Table

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

TIERS = {'ns': 'Latency, ns', 'read_gbs': 'Read, GB/s', 'triad_gbs': 'Triad, GB/s'}
READ_TIERS = 'The row is the NUMA domain of the CPUs, the column that of the memory.'
MAPS = 4  # of cores: nodes that have a picture
SHARED = ('smt', 'llc', 'domain', 'socket')  # what two CPUs may share, the innermost first
METHODS = ('cas', 'lines', 'oneway')  # the first that was measured is drawn
READ_CORES = (
    'One cell per pair: the row is the CPU that touched the memory first. Dark blocks on the '
    'diagonal share a cache; their borders are domains and sockets.'
)
READ_NODES = (
    'Time of a message, 1 is the median of all pairs. A bright row and column is a slow node, one '
    'bright cell and its mirror image a slow link.'
)


def drawn(best: dict, valid: Sequence[Row], table: Table) -> list[Picture]:
    """Of the best record and of all; no schema declares these: what is damaged is no picture."""
    try:
        found = [
            picture._replace(of_width=functools.cache(picture.of_width))  # the page draws it, too
            for picture in [*pictures(best), *maps(valid, table)]
        ]
        for picture in found:
            picture.draw(NARROW)
        return found
    except (TypeError, ValueError, LookupError, AttributeError) as err:
        what = f'{valid[0].test}: its evidence cannot be drawn'
        table.problems.append(f'{valid[0].headline.file}: {what} ({type(err).__name__}: {err})')
        return []


def pictures(record: dict) -> list[Picture]:
    """[]: the record has no curves."""
    points = record.get('points')
    if len(record.get('pairs_of_domains') or ()) > 1:
        return [_tiers(record, key) for key in TIERS]
    if isinstance(points, dict) and record.get('sizes'):
        return [_ladder(record, LATENCIES, 'ns'), _ladder(record, RATES, 'GB/s')]
    return [_loaded(record['host'], points)] if isinstance(points, list) else []


def _ladder(record: dict, names: dict[str, str], unit: str) -> Picture:
    """A curve of each kind: `points` has a row per round, with null where it is not known."""
    curves = []
    for key, name in names.items():
        rounds = zip(*(record['points'].get(key) or ()), strict=True)
        known = ([v for v in of if v] for of in rounds)
        points = [
            (float(n), *_range(of)) for n, of in zip(record['sizes'], known, strict=False) if of
        ]
        curves.append(Curve(name, points, is_band=True))
    sizes = enumerate(record.get('declared_bytes', []), 1)  # of caches
    declared = [(float(n), f'L{level} {in_bytes(n)}') for level, n in sizes]

    def of_width(width: int) -> Canvas:
        x = 'bytes per thread'
        return lines(curves, x, unit, width, True, True, in_bytes, declared=declared)

    title = f'{"Latency" if unit == "ns" else "Bandwidth"} by working set of {record["host"]}'
    return Picture(title, of_width, READ_LADDER)


def _range(values: list[float]) -> tuple[float, float, float]:
    """(median, lowest, highest) of some rounds."""
    return statistics.median(values), min(values), max(values)


def _tiers(record: dict, key: str) -> Picture:
    pairs = [(str(p['cpus']), str(p['memory'])) for p in record['pairs_of_domains']]
    values = {(c, m): float(record['metrics'][f'{key}_{c}_{m}']['value']) for c, m in pairs}
    names = sorted({name for pair in pairs for name in pair}, key=int)
    title = f'{TIERS[key]} between domains of {record["host"]}'
    unit = TIERS[key].split(', ')[1]
    return Picture(title, lambda width: heat_map(values, names, unit, width), READ_TIERS)


def _loaded(host: str, points: list[dict]) -> Picture:
    counted = (p for p in points if p.get('counts') and p.get('ns'))
    curves = []
    for mix, of_mix in grouped((point['mix'], point) for point in counted).items():
        parts = grouped((point['part'], point) for point in of_mix).values()
        rates = [statistics.median(point['gbs'] for point in of) for of in parts]
        ranges = [_range([point['ns'] for point in of]) for of in parts]
        middle = [(rate, *latency) for rate, latency in zip(rates, ranges, strict=True)]
        curves.append(Curve(mix, middle, is_band=True))
    title, x = f'Latency under traffic of {host}', 'GB/s of traffic'
    return Picture(title, lambda width: lines(curves, x, 'ns', width), READ_LOADED)


# --- maps of pairs: core to core, and node to node


def maps(rows: Sequence[Row], table: Table) -> list[Picture]:
    """Of the valid rows of one benchmark; none where its records have no pairs."""
    if not rows or not {'pairs', 'links'} & table.evidence(rows[0].headline).keys():
        return []
    records = [table.evidence(row.headline) for row in rows]
    cores = [_of_cores(record) for record in records if record.get('pairs')]
    return cores[:MAPS] + _of_nodes([record for record in records if record.get('links')])


def by_topology(pairs: list[dict]) -> list[int]:
    """The CPUs of these pairs; CPUs that share most are neighbours."""
    cpus = sorted({cpu for pair in pairs for cpu in (pair['cpu_a'], pair['cpu_b'])})
    keys: dict[int, tuple[int, ...]] = {cpu: (cpu,) for cpu in cpus}
    for reach in range(2, len(SHARED) + 1):
        group = {cpu: cpu for cpu in cpus}  # the first CPU of those that share so much
        for pair in (pair for pair in pairs if pair['class'] in SHARED[:reach]):
            one, other = sorted((group[pair['cpu_a']], group[pair['cpu_b']]))
            group = {cpu: one if of == other else of for cpu, of in group.items()}
        keys = {cpu: (group[cpu], *keys[cpu]) for cpu in cpus}
    return sorted(cpus, key=lambda cpu: keys[cpu])


def _of_cores(record: dict) -> Picture:
    pairs = record['pairs']
    measured = {pair['method'] for pair in pairs}
    method = next((m for m in METHODS if m in measured), pairs[0]['method'])
    pairs = [pair for pair in pairs if pair['method'] == method]
    names = [str(cpu) for cpu in by_topology(pairs)]
    times = {}
    for pair in pairs:
        ends = str(pair['cpu_a']), str(pair['cpu_b'])
        times[ends if pair['home'] == 'a' else ends[::-1]] = float(pair['median_ns'])
    title = f'One way between the cores of {record["host"]}, {method}, ns'
    usual = statistics.median
    return Picture(title, lambda width: heat_map(times, names, 'ns', width, usual), READ_CORES)


def _of_nodes(records: list[dict]) -> list[Picture]:
    times: dict[int, dict[tuple[str, str], float]] = {}
    for record in records:
        for link in record['links']:
            for message in link['messages'] if not link.get('reason') else ():
                of_size = times.setdefault(int(message['bytes']), {})
                for ends in ((record['host'], link['node']), (link['node'], record['host'])):
                    of_size[ends] = float(message['median_us'])
    return [_of_size(size, of_size) for size, of_size in sorted(times.items())]


def _of_size(size: int, times: dict[tuple[str, str], float]) -> Picture:
    names = sorted({name for pair in times for name in pair})
    usual = statistics.median(times.values())
    ratios = {pair: time / usual for pair, time in times.items()}
    title = f'{in_bytes(size)} between {len(names)} nodes, compared with {amount(usual)} us'
    top = max(1.5, 2 * statistics.quantiles([*ratios.values()], n=20)[-1] - 1)
    of = ratios, names, 'times'
    return Picture(title, lambda width: heat_map(*of, width, max, top), READ_NODES)
