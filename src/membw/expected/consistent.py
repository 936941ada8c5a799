"""Whether the parts of a record agree: what is refused was changed or mixed up. What agrees is
consistent, and no more: who makes up a whole record makes its parts agree."""

from collections.abc import Iterator

from membw.expected.proof import ARRAYS
from membw.expected.published import KERNELS, stores_of
from membw.presets import sources
from membw.presets.table import Facts
from membw.printable import amount
from membw.results.record import inner

ROUNDED = 0.001  # of a rate that is bytes over time
APART = 0.10  # of two kernels of the same bytes and stores; published: 0.084 at most
ALIKE = ('copy', 'scale'), ('add', 'triad')
DIRTY = '-dirty'  # of a commit whose checkout differed from it


def best_time(record: Facts, kernel: str) -> float:
    """Seconds of its best repetition but the first; 0: not recorded."""
    own = inner(record, 'kernels', kernel)
    # of very many repetitions the record has one in so many
    is_whole = inner(record, 'repetitions').get('times_every', 1) == 1
    times = own.get('times_s', [])[1:] if is_whole else []
    return min(times, default=own.get('min_s') or 0.0)


def disagreements(record: Facts) -> Iterator[str]:
    rates = {}
    for name in KERNELS:
        best, value = best_time(record, name), inner(record, 'metrics', name).get('value')
        if not best or not value:
            yield f'no times of {name}'
            continue
        rates[name] = value
        counted = ARRAYS[name][0] * record['element_bytes'] * record['array_size']
        gbs = 1e-9 * counted / best
        if abs(value / gbs - 1) > ROUNDED:
            yield f'{name} is {amount(value)} GB/s, and its bytes by its best time {amount(gbs)}'
    for one, other in ALIKE:
        is_alike = stores_of(record, one) == stores_of(record, other)
        if is_alike and {one, other} <= set(rates):
            apart = rates[one] / rates[other] - 1
            if abs(apart) > APART:
                yield f'{one} and {other} move the same bytes, and differ by {100 * apart:+.0f} %'
    yield from _of_sources(record)


def _of_sources(record: Facts) -> Iterator[str]:
    commit = inner(record, 'case').get('commit') or ''
    if not commit or commit.endswith(DIRTY):
        yield 'its sources are of no commit: measure with an unchanged checkout'
    elif not (known := sources.at_commit(commit, 'stream')):
        yield f'commit {commit[:12]} is not in this repository'
    elif known != record['build']['source_sha256']:
        yield f'its sources are not those of commit {commit[:12]}'
