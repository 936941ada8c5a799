"""What the memory of a card (GPU) can do by its maker: systems/facts/cards.yaml."""

import re

from membw.presets.table import Facts
from membw.site.cpu_peak import facts_of

GIB = 2**30 / 1e9  # GB


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


def peak(name: str, mib: float) -> float:
    """The maker's, GB/s, of a card as OpenCL calls it; 0: it is in no row. Of rows that differ,
    the highest."""
    return max((row['gbs'] for row in of_name(name, mib / 1024)), default=0.0)


def _words(text: str) -> set[str]:
    return set(re.findall(r'[a-z0-9]+', text.lower()))
