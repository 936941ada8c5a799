"""What others measured (published.yaml, and records): a range of like machines, or no range."""

import functools
from pathlib import Path
from typing import Any

from membw.checkout import root
from membw.possible.contributed import LEAST, row_of
from membw.presets.table import Facts
from membw.results.record import evidence
from membw.site.cpu_peak import Peak, facts_of

USED = ('reference', 'range')  # no floors, no figure with a warning
FEWEST = 3  # machines of a range
PROGRAMS = ('STREAM', 'HPCC StarSTREAM', 'BabelStream')  # what others read is not the same


def folder() -> Path:
    return Path(root(), 'systems', 'facts', 'published')


@functools.cache
def figures() -> list[Facts]:
    records = sorted(folder().glob('*.json'))
    rows = [row_of(file.stem, evidence(file.read_bytes())) for file in records]
    return facts_of('published')['figures'] + rows


def same(row: Facts) -> list[str]:
    """IDs of the figures that it would be once more."""
    return [r['id'] for r in figures() if r['id'] == row['id'] or r.get('triad') == row['triad']]


def ends(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def usable() -> list[Facts]:
    """Triad of all cores and of memory, by a known peak."""
    return [
        row
        for row in figures()
        if row['use'] in USED and row['program'] in PROGRAMS
        and row['scope'] in ('node', 'socket') and {'triad', 'peak'} <= set(row)
        and not row.get('some_cores') and not 0 < size(row) < LEAST
    ]  # fmt: skip


def shares(rows: list[Facts]) -> list[float]:
    """% of the peak."""
    return [100 * gbs / row['peak'] for row in rows for gbs in ends(row['triad'])]


def machines(rows: list[Facts]) -> int:
    return len({row['machine'] for row in rows})


def kin_of(family: Facts) -> str:
    """The families that are compared with one another: neighbours that treat stores alike."""
    return family.get('kin') or family.get('name', '')


def like(top: Peak, stores: str) -> list[Facts]:
    """The same kind of stores, on the same CPU or a neighbour of it."""
    kin = {row['name'] for row in facts_of('cpus')['cpus'] if kin_of(row) == kin_of(top.row)}
    return [row for row in usable() if row['stores'] == stores and row.get('family') in kin]


def size(row: Facts) -> float:
    """An array, in last-level caches of the machine; 0: not known."""
    if row.get('elements') == '4 x LLC per socket':
        return 4.0
    return 8 * row['elements'] / 2**20 / row['llc_mib'] if 'llc_mib' in row else 0
