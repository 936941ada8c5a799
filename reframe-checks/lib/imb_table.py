"""The table of IMB-MPI1 PingPong: its times, and whether it is whole."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

BEGIN = re.compile(r'^# Benchmarking PingPong\s*$', re.M)
HEAD = re.compile(r'^ *#bytes +#repetitions +t\[usec\] +Mbytes/sec *$', re.M)
END = '# All processes entering MPI_Finalize'
# IMB's own sizes, -msglog 0:22
SIZES = [0, *(2**i for i in range(23))]
# the largest such ratio in a table of the sources is 0.19 / 0.18
RESTLESS = 1.5


class Row(NamedTuple):
    """One size; the time one way, as IMB prints it."""

    bytes: int
    repetitions: int
    time_us: float
    mbytes_s: float


def rows(text: str) -> list[Row]:
    """Those of the PingPong table, up to the first line that is none."""
    begin = BEGIN.search(text)
    head = HEAD.search(text, begin.end()) if begin else None
    table = []
    for line in text[head.end() :].splitlines()[1:] if head else ():
        try:
            size, repetitions, time, rate = line.split()
            table.append(Row(int(size), int(repetitions), float(time), float(rate)))
        except ValueError:
            break
    return table


def problems(text: str) -> Iterator[str]:
    """Why the table is not valid, as text."""
    table = rows(text)
    if not table:
        yield 'no PingPong table in the output'
        return
    lacking = [size for size in SIZES if size not in [row.bytes for row in table]]
    if lacking:
        yield f'the table lacks {len(lacking)} of {len(SIZES)} sizes, first {lacking[0]}'
    elif END not in text:
        yield 'IMB did not finish'
    if not all(math.isfinite(row.time_us) and row.time_us > 0 for row in table):
        yield 'a time that is not above 0'


def restless(table: Sequence[Row]) -> list[str]:
    """Where a message took half as long again as a larger one, as text.

    IMB reads the clock once around all repetitions of a size: a busy moment shows only here.
    """
    return [
        f'{small.bytes} B took {small.time_us:g} us, {large.bytes} B {large.time_us:g} us'
        for small, large in itertools.combinations(table, 2)
        if small.time_us > RESTLESS * large.time_us
    ][:1]
