"""The maps of pairs: core to core, and node to node, from the records of `pingpong`."""

import statistics
from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from membw.report.heat_map import heat_map
from membw.report.model import Picture
from membw.report.sections import in_bytes
from membw.results.rows import Row
from membw.results.table import Table

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


def pictures(rows: Sequence[Row], table: Table) -> list[Picture]:
    """Of the valid rows of one benchmark; none where its records have no pairs."""
    valid = [row for row in rows if row.is_valid]
    if not valid or not {'pairs', 'links'} & table.record(valid[0].headline).keys():
        return []
    records = [table.record(row.headline) for row in valid]
    cores = [_of_cores(record) for record in records if record.get('pairs')]
    return cores[:MAPS] + _of_nodes([record for record in records if record.get('links')])


def metrics_of(rows: Sequence[Row], table: Table) -> set[str]:
    """The metrics of a benchmark that are cells of a map, not points of a curve."""
    record = table.record(rows[0].headline) if rows[0].figures else {}
    return {pair['metric'] for pair in record.get('pairs') or ()}


def by_topology(pairs: list[dict]) -> list[int]:
    """The CPUs of these pairs; CPUs that share most are neighbours."""
    cpus = sorted({cpu for pair in pairs for cpu in (pair['cpu_a'], pair['cpu_b'])})
    at = {cpu: i for i, cpu in enumerate(cpus)}
    keys: dict[int, tuple[int, ...]] = {cpu: (cpu,) for cpu in cpus}
    for reach in range(2, len(SHARED) + 1):
        near = np.zeros((len(cpus), len(cpus)))
        for pair in pairs:
            if pair['class'] in SHARED[:reach]:
                near[at[pair['cpu_a']], at[pair['cpu_b']]] = 1
        _, groups = connected_components(near, directed=False)
        keys = {cpu: (int(groups[at[cpu]]), *keys[cpu]) for cpu in cpus}
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
    return Picture(
        title,
        lambda width: heat_map(times, names, 'ns', width, title, statistics.median),
        READ_CORES,
    )


def _of_nodes(records: list[dict]) -> list[Picture]:
    """A map per size of message."""
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
    title = f'{in_bytes(size)} between {len(names)} nodes, compared with {usual:.4g} us'
    top = max(1.5, 2 * statistics.quantiles([*ratios.values()], n=20)[-1] - 1)
    return Picture(
        title, lambda width: heat_map(ratios, names, 'times', width, title, max, top), READ_NODES
    )
