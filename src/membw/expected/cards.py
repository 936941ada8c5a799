"""What the memory of a card (GPU) should reach: the maker's peak, and what others measured."""

import re
from collections.abc import Iterator

from membw.presets.table import Facts
from membw.site.cpu_peak import facts_of
from membw.tables import Block, Cell, Column, Table

GIB = 2**30 / 1e9  # GB
COLUMNS = (
    Column('card', 'card'),
    Column('gb', 'GB', right=True),
    Column('peak_gbs', 'GB/s at most', right=True),
    Column('triad_gbs', 'Triad measured', right=True, optional=True),
    Column('share', '% peak', right=True, optional=True),
    Column('source', 'source'),
)


def of_name(text: str, gib: float = 0.0) -> list[Facts]:
    """The rows of a card as somebody types it, or as OpenCL calls it; of those that differ in
    their memory the nearest, where that is known. The longest name counts: 'H100 PCIe'."""
    words = _words(text)
    rows = [row for row in facts_of('cards')['cards'] if words >= _words(row['name'])]
    longest = max((len(_words(row['name'])) for row in rows), default=0)
    rows = [row for row in rows if len(_words(row['name'])) == longest]
    given = re.search(r'(\d+) ?GB\b', text, re.I)
    gb = float(given[1]) if given else gib * GIB
    return sorted(rows, key=lambda row: abs(row['gb'] - gb))[:1] if gb else rows


def _words(text: str) -> set[str]:
    return set(re.findall(r'[a-z0-9]+', text.lower()))


def blocks(rows: list[Facts]) -> Iterator[Block]:
    """What `membw expect` prints of them."""
    sources = facts_of('cards')['sources']
    yield Table('', COLUMNS, [_row(row) for row in rows])
    named = (name for row in rows for name in (row['source'], *row.get('triad', ())[1:]))
    for source in dict.fromkeys(named):
        yield f'{source}: {sources[source]}'
    yield 'What a card in order reaches, its peers say: docs/device.md'


def _row(row: Facts) -> tuple:
    triad = row.get('triad', (None,))[0]
    share = triad and Cell(triad / row['gbs'], f'{triad / row["gbs"]:.0%}')
    return f'{row["vendor"]} {row["name"]}', row['gb'], row['gbs'], triad, share, row['source']
