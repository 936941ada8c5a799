"""What others measured (published.yaml, and records of real machines): a range of like machines,
or none. Of a record systems/facts/published/ID.json the row is made anew each time."""

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from membw.checkout import root
from membw.presets.table import Facts
from membw.printable import amount
from membw.results.record import evidence, inner
from membw.results.too_good import is_too_good
from membw.site import cpu_peak as peak
from membw.tables import Cell, Column, Table, cut

USED = ('reference', 'range')  # no floors, no figure with a warning
LEAST_MACHINES = 3  # of a range
PROGRAMS = ('STREAM', 'HPCC StarSTREAM', 'BabelStream')  # of a Triad
LEAST_CACHES = 2.0  # last-level ones, that an array fills
CLAIMED = 0.7  # share of the reads that are avoided: like the CPUs that claim their lines
ORDINARY = 3 / 4  # of the peak, by a Triad whose stores read their lines
ENOUGH = 2  # cores per channel: with fewer the cores are the limit (Cascade Lake 0.68, else 0.83)
READ = 'none'  # the kind of stores of what is read alone
NOT_SAID = 'not said'
KERNELS = 'copy', 'scale', 'add', 'triad'  # of a row
DISTURBED = 0.05  # share of the CPUs that other processes used: disturbed, as in src/harness
# as membw codegen says it
STORES = {'ordinary': 'ordinary', 'nontemporal': 'non-temporal', 'zeroed': 'claimed'}
# of a record: what the row says, and what it is checked by; no thread, no process, no job
KEPT = ('schema', 'program', 'version', 'time', 'ranks', 'threads', 'metrics', 'headline', 'looks',
        'kernels_set', 'array_size', 'element_bytes', 'llc_mib', 'memory_side_cache_mib', 'build',
        'residency', 'codegen', 'kernels', 'validation', 'verdict', 'reasons', 'warnings',
        'facts')  # fmt: skip


COLUMNS = (
    Column('id', 'id'),
    Column('stores', 'stores'),
    Column('gbs', 'GB/s', right=True),
    Column('share', '% peak', right=True),
    Column('use', 'use'),
    Column('source', 'source'),
)
SHORT = 17  # characters of a source


def folder() -> Path:
    return Path(root(), 'systems', 'facts', 'published')


@functools.cache
def figures() -> list[Facts]:
    records = sorted(folder().glob('*.json'))
    rows = [row_of(file.stem, evidence(file.read_bytes())) for file in records]
    return peak.facts_of('published')['figures'] + rows


def same(row: Facts) -> list[str]:
    """IDs of the figures that it would be once more."""
    return [r['id'] for r in figures() if r['id'] == row['id'] or r.get('triad') == row['triad']]


def ends(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def usable() -> list[Facts]:
    """Of all cores, as many as the channels need, and of memory, by a known peak."""
    return [
        row
        for row in figures()
        if row['use'] in USED and (row['program'] in PROGRAMS or row['stores'] == READ)
        and row['scope'] in ('node', 'socket') and 'peak' in row and rate(row)
        and not 0 < size(row) < LEAST_CACHES
        and not is_few(row)
    ]  # fmt: skip


def is_few(row: Facts) -> bool:
    """Whether the cores that drew, as far as they are known, are too few for the channels."""
    return bool(row.get('some_cores')) or cores(row) < ENOUGH * row.get('sockets', 1) * channels(
        row
    )


def rate(row: Facts) -> Any:
    """GB/s: what is read alone, else Triad; a pair is a range, None: neither."""
    return row.get('read' if row['stores'] == READ else 'triad')


def cores(row: Facts) -> int:
    """That drew; 0: not known, and then perhaps not all."""
    drew = row.get('threads', row.get('cores'))
    return drew if isinstance(drew, int) else 0


def channels(row: Facts) -> int:
    """Of a socket; 1 where the family has none that are counted."""
    return _channels().get(row.get('family', ''), 1)


@functools.cache
def _channels() -> dict[str, int]:
    return {cpu['name']: cpu.get('channels', 1) for cpu in peak.facts_of('cpus')['cpus']}


def shares(rows: list[Facts]) -> list[float]:
    """% of the peak."""
    return [100 * gbs / row['peak'] for row in rows for gbs in ends(rate(row))]


def machines(rows: list[Facts]) -> int:
    return len({row['machine'] for row in rows})


def kin_of(family: Facts) -> str:
    """The families that are compared with one another: neighbours that treat stores alike."""
    return family.get('kin') or family.get('name', '')


def families(family: Facts) -> set[str]:
    """Its own name and those of its neighbours."""
    return {row['name'] for row in peak.facts_of('cpus')['cpus'] if kin_of(row) == kin_of(family)}


def like(top: peak.Peak, stores: str) -> list[Facts]:
    """The same kind of stores, on the same CPU or a neighbour of it."""
    kin = families(top.row)
    return [row for row in usable() if row['stores'] == stores and row.get('family') in kin]


def source(row: Facts) -> str:
    return peak.facts_of('published')['sources'].get(row['source'], row['source'])


def table(title: str, rows: Iterable[Facts]) -> Table:
    return Table(title, COLUMNS, map(_cells, rows))


def _cells(row: Facts) -> tuple:
    gbs, whence = rate(row), source(row)
    of_peak = shares([row]) if gbs and 'peak' in row else []
    few = ', few' if cores(row) else ', cores?'
    return (
        row['id'],
        row['stores'],
        Cell(gbs, ' to '.join(f'{amount(v)}' for v in ends(gbs)) if gbs else '-'),
        Cell(of_peak or None, ' to '.join(f'{v:.0f}' for v in of_peak) or '-'),
        row['use'] + few * (row['use'] in USED and is_few(row)),
        Cell(whence, cut(whence, SHORT)),
    )


def size(row: Facts) -> float:
    """An array of a figure or a record, in last-level caches of its machine; 0: not known."""
    elements = row.get('elements', row.get('array_size')) or 0
    if elements == '4 x LLC per socket':
        return 4.0
    llc = max(row.get('llc_mib') or 0, row.get('memory_side_cache_mib') or 0)
    return 8 * elements / 2**20 / llc if llc else 0


# --- a record of a real machine as a published figure


def kept(record: Facts) -> Facts:
    """`host` is the machine: one name is one machine, whichever of its nodes this was."""
    case = inner(record, 'case')
    system = case.get('system') or 'local'
    return {key: record[key] for key in KEPT if key in record} | {
        'host': record['host'] if system == 'local' else system,
        'case': {'pinning': case.get('pinning'), 'commit': case.get('commit')},
        'busy': {'other_share': record['busy']['other_share']},
    }


def refusals(record: Facts) -> Iterator[str]:
    """Why no other machine may be compared with it; by the record alone."""
    triad = inner(record, 'metrics', 'triad')
    if record['program'] != 'stream' or triad.get('unit') != 'GB/s' or not triad['value']:
        yield 'no Triad in GB/s of stream'
        return
    build, facts, busy = record['build'], record['facts'], record['busy']['other_share']
    kernels = record.get('kernels_set') or 'standard', record['element_bytes']
    residency = inner(record, 'residency')
    known = residency.get('known', 'unknown')
    largest = residency.get('largest_triad_gbs')
    is_whole = record.get('ranks', 1) == 1 and record['threads'] >= (facts.get('cores') or 1)
    for one in [*record['reasons'], *record['warnings']]:
        if one['reason'] != 'cache-size':  # the larger is taken, and the arrays are proven
            yield f'{one["reason"]}: {one.get("detail", "")}'
    for is_wrong, why in (
        (record['verdict'] != 'VALID', f'its verdict is {record["verdict"]}'),
        (not record['validation']['ok'], 'its results were not validated'),
        (kernels != ('standard', 8), 'not the standard kernels, of elements of 8 bytes'),
        (busy is None or busy > DISTURBED, 'other processes used the CPUs'),
        (triad.get('bound') or triad.get('low') is None, 'Triad has no interval'),
        (known != 'proven', f"arrays in memory: '{known}', where 'proven' is wanted"),
        (
            not largest or is_too_good(triad['value'] / largest),
            'Triad is above that of the largest arrays that were tried',
        ),
        (size(record) < LEAST_CACHES, f'an array is {size(record):.1f} caches, 2 are wanted: -n'),
        (stores_of(record) == NOT_SAID, 'its stores are not known: measure by membw run'),
        (build.get('unknown') or not build.get('code_sha256'), 'its build is not known'),
        (not is_whole, 'not one process with a thread on each core'),
    ):
        if is_wrong:
            yield why
    yield from _of_memory(peak.of_node({'facts': facts}), triad['value'], record)


def _of_memory(top: peak.Peak, gbs: float, record: Facts) -> Iterator[str]:
    """Of a whole machine, with all that its CPUs should have."""
    if not top.row or top.only_if:
        hidden = 'a hypervisor hides its name'
        yield f'its CPU is not known: {hidden if top.only_if else top.what}'
    elif not top.gbs or top.is_slice:
        yield f'its peak is not known: {top.what}'
    elif not top.here:
        yield 'its memory modules are not known: measure as root, on no virtual machine'
    elif top.lacks:
        yield f'its memory is not what it should be: {"; ".join(top.lacks)}'
    elif gbs > top.gbs:
        yield f'Triad is above the peak of {amount(top.gbs)} GB/s ({top.what})'
    elif kind_of(record, top.row) == 'ordinary' and gbs > (most := ORDINARY * top.gbs):
        yield f'Triad is more than ordinary stores can reach: {amount(most)} GB/s'


def is_claiming(record: Facts, row: Facts) -> bool:
    """Whether ordinary stores read no line before: by the CPU's family, or by a look at it."""
    avoided = inner(record, 'looks').get('write_allocate_avoided') or 0
    return bool(row.get('claims') or avoided >= CLAIMED)


def stores_of(record: Facts, kernel: str = 'triad') -> str:
    """By the code that was measured."""
    return STORES.get(inner(record, 'codegen', kernel).get('stores', ''), NOT_SAID)


def kind_of(record: Facts, row: Facts, kernel: str = 'triad') -> str:
    """Its stores by the code, by the family of its CPU, `row`, and by looks; never by its rate."""
    kind = READ if kernel == 'read' else stores_of(record, kernel)
    return 'claimed' if kind == 'ordinary' and is_claiming(record, row) else kind


def row_of(name: str, record: Facts) -> Facts:
    """As the rows of published.yaml."""
    top, facts, build = peak.of_node(record), record['facts'], record['build']
    rates = {key: m['value'] for key, m in record['metrics'].items() if key in KERNELS}
    return {
        'id': name, 'machine': record['host'], 'cpu': f'{top.sockets}x {facts["cpu_model"]}',
        'family': top.row['name'], 'memory': top.what, 'scope': 'node', 'sockets': top.sockets,
        'stores': kind_of(record, top.row), **rates, 'peak': top.gbs, 'peak_from': 'its modules',
        'threads': record['threads'], 'elements': record['array_size'],
        'llc_mib': record['llc_mib'], 'compiler': build['compiler'], 'flags': build['flags'],
        'pinning': record['case']['pinning'], 'use': 'reference', 'trust': 'record',
        'source': f'its record, systems/facts/published/{name}.json', 'program': 'STREAM',
    }  # fmt: skip
