"""More than can be: above the peak a figure is INVALID, far above what it is compared with
UNDECIDED. One limit each: whoever judges a figure asks here, `membw accept` (is_too_good) and
`membw published add` (above_peak), too.
"""

from membw.results import hardware
from membw.results.findings import Finding
from membw.results.record import RATES, Record

# above peers, a reference, a contract: no machine gains so much by itself, but by a cache, another
# size, another unit
TENTH = 0.10
EACH = ('stream', 'device')  # programs whose rates are all of memory
OF_MEMORY = (*EACH, 'loaded', 'tiers', 'node')  # whose headline is one


def is_too_good(share: float) -> bool:
    """`share`: of what it is compared with, 1.1 is a tenth better, whichever is better."""
    return share > 1 + TENTH


def above_peak(record: Record) -> tuple[bool, Finding] | None:
    """(whether the peak is known, not "at most"; the rate of memory that is above it)."""
    if record.program not in OF_MEMORY:
        return None
    own = hardware.of(record)
    for name in record.measured if record.program in EACH else [record.stands]:
        row = record.measured.get(name)
        if not own.peak or not row or row.value is None or row.bound in ('upper', 'unknown'):
            continue
        value = row.value * RATES.get(row.unit, 0)
        if value > own.peak:
            numbers = {'metric': name, 'value': value, 'unit': 'GB/s', 'peak': own.peak}
            return own.is_known, Finding('above-peak', numbers)
    return None
