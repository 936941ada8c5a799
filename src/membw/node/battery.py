"""What `membw node` runs, in this order, and how it shares out its time."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

LEAST_S, USUAL_S, MOST_S = 30, 60, 180
SETTLE_S = 0.5  # before each part: what the one before disturbed
LEAST_REPEATED_S, MOST_REPEATED_S = 0.5, 20  # more seconds make no better figure
PINNING = 'omp'  # as a check names it
PINNED = {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}


class Part(NamedTuple):
    """One launch. `args`: '{s}' is the time of its repetitions: by `weight` of what is left."""

    name: str
    program: str
    args: str
    seconds: float  # of all else
    weight: int = 0
    threads: int = 0  # 0: one per core
    domains: int = 1  # left out on a node of fewer NUMA domains
    cores: int = 1  # or of fewer cores


# a curve or a matrix that is not whole is compared as far as it is there
QUICK = '--quick --allow incomplete'
# of stream no --seconds: it would end without a figure on a busy node, and look at no domain
BATTERY = (
    Part('stream', 'stream', '--explain --max-seconds {s}', 4, 2),  # what all cores read and write
    Part('one', 'stream', '--max-seconds {s}', 2, 1, threads=1),  # what one thread does
    Part('ladder', 'ladder', '--quick', 6),  # latency and size of each cache, latency of memory
    Part('loaded', 'loaded', QUICK, 6, cores=2),  # the highest rate of reads
    Part('dgemm', 'dgemm', '--shape square --max-seconds 3', 5),  # arithmetic of all cores
    Part('tiers', 'tiers', QUICK, 6, domains=2),  # each memory from each domain
    Part('late', 'stream', '--max-seconds {s}', 2, 2),  # whether it fell meanwhile
)


OPTIONAL, OPTIONAL_S = 'dgemm', 45  # where there is a BLAS, and so many seconds for all parts


def plan(
    seconds: float, domains: int, cores: int, has_blas: bool = False
) -> Iterator[tuple[Part, float]]:
    """Each part and its seconds: the fixed ones, and the rest by weight."""
    parts = [part for part in BATTERY if part.domains <= domains and part.cores <= cores]
    if not has_blas or seconds < OPTIONAL_S:
        parts = [part for part in parts if part.name != OPTIONAL]
    rest = seconds - sum(part.seconds + SETTLE_S for part in parts)
    weights = sum(part.weight for part in parts)
    for part in parts:
        share = min(rest * part.weight / weights, MOST_REPEATED_S)
        yield part, round(part.seconds + share, 1)


def words(part: Part, seconds: float) -> Iterable[str]:
    return part.args.format(s=f'{max(seconds - part.seconds, LEAST_REPEATED_S):.1f}').split()
