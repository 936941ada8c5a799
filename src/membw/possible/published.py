"""What others measured (published.yaml): compared within the same stores and scope."""

from typing import Any, NamedTuple

from membw.possible.peak import Peak, facts_of
from membw.presets.table import Facts

USED = ('reference', 'range')  # no floors, no figure with a warning
NOT_SAID = 'not said'
FEW = 2  # fewer shares of the same stores say little: those whose stores are not said join


class Others(NamedTuple):
    low: float
    high: float
    unit: str  # 'GB/s' on the same CPU, '%' of the peak on others
    stores: str
    machines: list[Facts]


def ends(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def usable() -> list[Facts]:
    every = facts_of('published')['figures']
    return [row for row in every if row['use'] in USED and 'triad' in row and is_stream(row)]


def is_stream(row: Facts) -> bool:
    """STREAM itself or HPCC's: what other programs read is not the same."""
    return row['program'] in ('STREAM', 'HPCC StarSTREAM')


def others(peak: Peak, stores: str, sockets: int) -> Others | None:
    """First the same CPU with as many sockets, else the share of the peak; None: nobody."""
    same = [
        row for row in usable() if row['stores'] == stores and row['scope'] in ('node', 'socket')
    ]
    own = [r for r in same if r.get('family') == peak.family and r.get('sockets') == sockets]
    if peak.family and own and not peak.is_slice:
        values = [gbs for row in own for gbs in ends(row['triad'])]
        return Others(min(values), max(values), 'GB/s', stores, own)
    if not peak.gbs or peak.is_slice:
        return None
    shared = [row for row in same if 'peak' in row]
    if len(shared) < FEW:
        stores = NOT_SAID
        shared = [
            r for r in usable() if r['stores'] == NOT_SAID and 'peak' in r and r['scope'] == 'node'
        ]
    shares = [100 * gbs / row['peak'] for row in shared for gbs in ends(row['triad'])]
    return Others(min(shares), max(shares), '%', stores, shared) if shares else None


def stores_of(brief: str) -> str:
    """Of Triad, by the word that a row has of its kernels: 'memmove/64', '256nt'."""
    word = brief.rpartition('/')[2]
    if word.endswith('nt'):
        return 'non-temporal'
    return 'ordinary' if word.isdigit() else NOT_SAID
