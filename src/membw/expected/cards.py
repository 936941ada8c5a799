"""What the memory of a card (GPU) should reach: the maker's peak, and what others measured."""

from collections.abc import Iterator

from membw.presets.table import Facts
from membw.printable import amount
from membw.site.card_peak import peak
from membw.site.cpu_peak import facts_of
from membw.statistics import MARGIN
from membw.tables import Block, Cell, Column, Table

COLUMNS = (
    Column('card', 'card'),
    Column('gb', 'GB', right=True),
    Column('peak_gbs', 'GB/s at most', right=True),
    Column('triad_gbs', 'Triad measured', right=True, optional=True),
    Column('share', '% peak', right=True, optional=True),
    Column('source', 'source'),
)


def lines_of(device: Facts, gbs: float, sign: str) -> Iterator[tuple[str, bool]]:
    """What is said of a card's Triad, and whether that is low: beside its maker's peak, and below
    each card of which others published a Triad. A figure of its own kind is for peers to say."""
    top = peak(device.get('name') or '', device.get('memory_mib') or 0)
    if not top:
        yield f"No maker's peak of '{device.get('name')}' is known.", False
        return
    yield f"{sign}{100 * gbs / top:.0f} % of the maker's peak of {amount(top)} GB/s.", False
    rows = facts_of('cards')['cards']
    shares = sorted(row['triad'][0] / row['gbs'] for row in rows if 'triad' in row)
    if not sign and gbs / top < (1 - MARGIN) * shares[0]:
        span = f'{100 * shares[0]:.0f} to {100 * shares[-1]:.0f} %'
        yield f'Look: published, {len(shares)} cards: {span}.', True


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
