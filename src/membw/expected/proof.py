"""What a figure proves by itself: no memory moves more than its channels carry.

A channel that is missing carries nothing, and a slower one less. So what was moved, by what the
fastest channel of such a CPU carries, is the least number of channels that work. What the caches
can hold is taken off before. It needs no other machine's figure, and no root.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from membw.expected.published import NOT_SAID, kind_of
from membw.presets.table import Facts
from membw.printable import amount, plural
from membw.results.record import inner
from membw.site.cpu_peak import Peak
from membw.words import INVALID

# arrays that a kernel counts, and of these those that it writes
ARRAYS = {
    'copy': (2, 1), 'scale': (2, 1), 'add': (3, 1), 'triad': (3, 1), 'read': (3, 0),
    'write': (3, 3),
}  # fmt: skip
TIMES = {1.0: '', 1.5: ' x 3/2', 4 / 3: ' x 4/3', 2.0: ' x 2'}
SEEN = 0.005  # of a rate: less is not worth a word
ROUNDED = 0.001  # DDR4-2666 has 2666.67 MT/s


def factor(kernel: str) -> float:
    """What is moved for each byte that is counted, where each store reads its line before."""
    counted, written = ARRAYS[kernel]
    return (counted + written) / counted


def ceiling(kernel: str, stores: str) -> float:
    """The share of the peak that it counts at most; ordinary: of a CPU that reads each line."""
    return 1 / factor(kernel) if stores == 'ordinary' and kernel in ARRAYS else 1.0


class Moved(NamedTuple):
    """By one kernel, in GB/s."""

    kernel: str
    counted: float
    times: float  # what was moved at least for each byte that was counted
    most: float  # the most that may have been moved
    cached: float = 0  # of it the most that the caches can hold

    @property
    def least(self) -> float:
        return self.counted * self.times - self.cached

    @property
    def text(self) -> str:
        """'Triad moves 283 GB/s of memory (221.2 x 4/3, less 12 that caches may hold)'."""
        less = f', less {self.cached:.2g} that caches may hold'
        how = TIMES[self.times] + less * (self.cached > SEEN * self.counted)
        verb = f'{self.kernel.capitalize()} moves {amount(self.least)} GB/s of memory'
        return verb + (f' ({amount(self.counted)}{how})' if how else '')


class Proof(NamedTuple):
    """At least `number` of the `channels` work; `why` in words, as people check it."""

    number: int
    channels: int
    why: str
    without_caches: int = 0  # what larger arrays would prove

    def text(self, is_part: bool = False) -> str:
        """`is_part`: of a machine that may have more channels than it says."""
        if self.number == self.channels and not is_part:
            return f'All {self.number} channels work: {self.why}.'
        return f'At least {self.number} of {plural(self.channels, "channel")} work: {self.why}.'


def moved(record: Facts, row: Facts) -> list[Moved]:
    """By each kernel whose figure is no less than it says; [] where it may be a cache's, or of
    memory on no channel of the CPUs: of a domain without CPUs, such as a CXL card."""
    numa, known = inner(record, 'facts', 'numa').values(), inner(record, 'residency').get('known')
    is_elsewhere = any(domain.get('cpus') == '' for domain in numa)
    is_proven = known == 'proven' and record.get('verdict') != INVALID
    if not is_proven or record.get('ranks', 1) != 1 or is_elsewhere:
        return []
    size = (record.get('array_size') or 0) * (record.get('element_bytes') or 8)
    caches = 2**20 * max(record.get('llc_mib') or 0, record.get('memory_side_cache_mib') or 0)
    return [*_moved(record, row, caches / size)] if size and caches else []


def _moved(record: Facts, row: Facts, caches: float) -> Iterator[Moved]:
    """`caches`: how many arrays they hold."""
    for kernel, (counted, _) in ARRAYS.items():
        metric = inner(record, 'metrics', kernel)
        is_sure = metric.get('bound') not in ('upper', 'unknown')
        if metric.get('unit') != 'GB/s' or not metric.get('value') or not is_sure:
            continue
        kind, gbs, more = kind_of(record, row, kernel), metric['value'], factor(kernel)
        may_read = kind in ('ordinary', NOT_SAID) and not row.get('claims')
        reads = kind == 'ordinary' and row.get('claims') is False
        cached = gbs * caches / counted
        yield Moved(kernel, gbs, more if reads else 1.0, gbs * (more if may_read else 1), cached)


def proven(record: Facts, top: Peak) -> Proof | None:
    """None where the channels are not known, or may be faster than known, or nothing is sure."""
    every = moved(record, top.row)
    if not every or not top.carries or not top.channels:
        return None
    best = max(every, key=lambda m: m.least)
    number = needed(best.least, top.carries)
    all_of_it = needed(max(m.least + m.cached for m in every), top.carries)
    why = best.text + _less(number, top.carries)
    proofs = [Proof(number, top.channels, why, all_of_it), *by_domain(record, top, every)]
    return max(proofs, key=lambda proof: proof.number)


def needed(gbs: float, carries: float) -> int:
    """Channels for so much."""
    return math.ceil((1 - ROUNDED) * gbs / carries)


def _less(number: int, carries: float) -> str:
    """What one channel less could carry."""
    verb = 'carries' if number == 2 else 'carry'
    return f', and {number - 1} {verb} {amount((number - 1) * carries)} at most' * (number > 1)


def by_domain(record: Facts, top: Peak, every: list[Moved]) -> Iterator[Proof]:
    """What each NUMA domain reads comes from its own channels. Domains are sockets, or parts of an
    Intel socket; AMD's may be of one L3 cache, and Linux's made up (all at distance 10)."""
    read = [m for m in every if m.kernel == 'read']
    domains = inner(record, 'looks', 'domains').values()
    seen, count = inner(record, 'facts', 'cpu_id'), len(domains)
    rows = inner(record, 'facts', 'numa').values()
    numa = [(row.get('distances') or '').split() for row in rows]
    is_apart = numa and all(row.count('10') == 1 for row in numa)
    is_own = count == top.sockets or seen.get('vendor') == 'GenuineIntel'
    if count < 2 or not (read and is_apart and is_own) or seen.get('hypervisor'):
        return
    if top.channels % count or any(domain.get('is_bound', True) for domain in domains):
        return
    share = read[0].least / read[0].counted
    gbs = share * min(domain.get('gbs') or 0 for domain in domains)
    each = needed(gbs, top.carries)
    why = f'each of its {count} NUMA domains reads {amount(gbs)} GB/s of memory or more'
    yield Proof(each * count, top.channels, why + _less(each, top.carries))
