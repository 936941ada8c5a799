"""More than can be: above the peak a figure is INVALID, far above what it is compared with
UNDECIDED. One limit each; `membw accept` and `membw published add` ask here, too.
"""

import msgspec

from membw.results.findings import Finding
from membw.results.record import RATES, Record

# above peers, a reference, a contract: no machine gains so much by itself, but by a cache, another
# size, another unit
TENTH = 0.10
OF_MEMORY = ('stream', 'loaded', 'tiers', 'node')  # programs whose headline is a rate of it
MOST = 2_000  # peaks that are kept
_peaks: dict[int, tuple[object, float, bool]] = {}


def is_too_good(share: float) -> bool:
    """`share`: of what it is compared with, 1.1 is a tenth better, whichever is better."""
    return share > 1 + TENTH


def above_peak(record: Record) -> tuple[bool, Finding] | None:
    """(whether the peak is known, not "at most"; the rate of memory that is above it)."""
    peak, is_known = peak_of(record)
    if not peak or record.program not in OF_MEMORY:
        return None
    names = record.measured if record.program == 'stream' else [record.stands]
    for name in names:
        row = record.measured.get(name)
        if not row or row.value is None or row.bound in ('upper', 'unknown'):
            continue
        value = row.value * RATES.get(row.unit, 0)
        if value > peak:
            numbers = {'metric': name, 'value': value, 'unit': 'GB/s', 'peak': peak}
            return is_known, Finding('above-peak', numbers)
    return None


def peak_of(record: Record) -> tuple[float, bool]:
    """(GB/s, whether it is known, not "at most"); 0: not known. A hypervisor may say that it is
    another CPU; equal facts are one object in all records."""
    given = record.peak
    if given and given.value and given.unit in RATES:
        return given.value * RATES[given.unit], True
    key = id(record.facts)
    if key not in _peaks:
        if len(_peaks) > MOST:
            _peaks.clear()
        _peaks[key] = record.facts, *_by_facts(record)
    return _peaks[key][1:]


def _by_facts(record: Record) -> tuple[float, bool]:
    from membw.site.cpu_peak import known_peak, of_node

    facts = {'facts': msgspec.to_builtins(record.facts)}
    if facts['facts']['cpu_id'].get('hypervisor') or not (found := known_peak(facts)):
        return 0.0, False
    return found[0], not of_node(facts).is_most
