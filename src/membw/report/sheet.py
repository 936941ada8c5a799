"""The sheet of a vendor: the best row of STREAM with what tenders ask for, from records alone."""

from collections.abc import Iterator
from typing import Any

from membw.errors import MembwError
from membw.expected.published import stores_of
from membw.printable import in_bytes
from membw.report.run import Run
from membw.results.record import inner
from membw.results.rows import Row
from membw.sheet import Part, render
from membw.site.cpu_peak import of_node
from membw.summary.full_table import table_of, text_of
from membw.tables import Column, Table
from membw.words import GOOD

TEST = 'stream'
KERNELS = 'copy', 'scale', 'add', 'triad'
# as STREAM prints them
TIMES = (
    Column('kernel', 'Function'), Column('best', 'Best rate, MB/s', right=True),
    Column('avg', 'Average time, s', right=True), Column('min', 'Minimum', right=True),
    Column('max', 'Maximum', right=True),
)  # fmt: skip
KEYS = Column('key', ''), Column('value', '')
SETTINGS = 'governor', 'thp', 'smt', 'numa_balancing', 'kernel', 'bios_version'
LISTED = 12  # rows


def sheet(run: Run) -> str:
    """Raises MembwError where no valid row of STREAM is."""
    valid = (row for row in run.rows if row.test == TEST and row.is_valid)
    rows = [row for row in valid if 'triad' in row.figures]
    if not rows:
        raise MembwError('no valid row of stream: there is nothing to put on a sheet')
    rows.sort(key=lambda row: (row.word not in GOOD, -row.figures['triad'].value))
    best, triad = rows[0], rows[0].figures['triad']
    record = run.table.evidence(triad)
    others = table_of('', rows[:LISTED], dict.fromkeys(KERNELS, triad.unit))
    more = [f'{len(rows) - LISTED} more rows: membw report'] if len(rows) > LISTED else []
    parts = [
        Part('Machine', table=Table('', KEYS, _known(_machine(record)))),
        Part('How it was built and run', table=Table('', KEYS, _known(_run(best, record)))),
        Part('Times', table=Table('', TIMES, [*_times(record)])),
        Part('What the program says of it', [*_said(record)]),
        Part(f'Rows in {triad.unit}, the best first', more, others),
        Part('Checksums (sha256)', [*_sums(record)], is_sum=True),
    ]
    said = f'Triad {text_of(triad)} {triad.unit} on {triad.node}, {record["time"]}'
    word = f'{best.word}: row {_name(best)}'
    return render('STREAM by membw', said, word, parts, [('Vendor', '')])


def _name(row: Row) -> str:
    return ' '.join(filter(None, (row.preset, row.pinning))) or 'by hand'


def _known(rows: Iterator[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(key, 'not known' if value in (None, '') else str(value)) for key, value in rows]


def _machine(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    facts, top = record['facts'], of_node(record)
    yield 'processor', f'{facts.get("sockets") or 1} x {facts.get("cpu_model") or "not known"}'
    yield 'cores', facts.get('cores')
    yield 'sum of the last-level caches', record['llc_mib'] and f'{record["llc_mib"]} MiB'
    yield 'peak of the memory', f'{top.gbs:.4g} GB/s ({top.what})' if top.gbs else top.what
    yield from ((name, facts[name]) for name in SETTINGS if facts.get(name))


def _run(row: Row, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    build, size = record['build'], record['array_size'] * record['element_bytes']
    yield from ((key, build.get(key)) for key in ('compiler', 'flags', 'compile_line'))
    yield 'stores of Triad', stores_of(record)
    yield 'kernels', f'{record.get("kernels_set") or "standard"}, {record.get("language") or "c"}'
    count = f'{record["array_size"]} elements of {record["element_bytes"]} bytes'
    caches = f', {size / 2**20 / (record["llc_mib"] or 1):.1f} times the caches'
    yield 'one array', f'{count} ({in_bytes(size)}){caches * bool(record["llc_mib"])}'
    yield 'command', ' '.join(map(str, record.get('command') or []))
    yield 'threads, pinning', f'{record["threads"]}, {row.pinning or "not recorded"}'
    yield 'pages', inner(record, 'pages').get('requested')


def _times(record: dict[str, Any]) -> Iterator[list[str]]:
    for name in KERNELS:
        if own := record['kernels'].get(name):
            times = (f'{own[key]:.6f}' for key in ('avg_s', 'min_s', 'max_s'))
            yield [name.capitalize(), f'{own["best_mbs"]:.1f}', *times]


def _said(record: dict[str, Any]) -> Iterator[str]:
    is_right = record['validation']['ok']
    yield f'{record["verdict"]}; results {"validated" if is_right else "NOT validated"}'
    for one in [*record['reasons'], *record['warnings']]:
        yield f'{one["reason"]}: {one.get("detail", "")}'


def _sums(record: dict[str, Any]) -> Iterator[str]:
    yield f'record  {record.get("sha256") or "has none"}'
    for name in ('source', 'code', 'binary'):
        if sum_ := record['build'].get(f'{name}_sha256'):
            yield f'{name:7} {sum_}'
