"""The floors file that `stream --at-least` reads: a health check drains a node below them.

A check that runs every hour must not drain healthy nodes: a floor lies 10 % below the reference.
"""

import math
import time
from collections.abc import Mapping

from membw.calibrate.rule import Reference
from membw.errors import MembwError

BELOW = 0.10


def of_one(made: Mapping[tuple[str, ...], Mapping[str, Reference]]) -> str:
    """The file for {key: {metric: Reference}}: GB/s, rounded down to 0.1.

    Raises MembwError for several keys and for one without a bandwidth.
    """
    names = [' '.join(key) for key in made]
    if len(names) != 1:
        raise MembwError(
            f'{len(names)} references for one file of floors: {"; ".join(names) or "see above"}',
            'name one by --partition, --preset and --pinning',
        )
    rows = [(metric, row) for of_key in made.values() for metric, row in of_key.items()]
    lines = [
        f'{metric}={math.floor(10 * (1 - BELOW) * row.value) / 10:g}'
        for metric, row in rows
        if row.unit == 'GB/s' and row.better == 'higher'
    ]
    if not lines:
        raise MembwError(f"'{names[0]}' has no bandwidth for a floor", 'choose --test stream')
    head = [
        f'# floors of {names[0]}, GB/s: stream --at-least THIS --seconds 25,',
        '# the same binary, threads and pinning, on an idle node',
        f'# {time.strftime("%Y-%m-%d")}: {BELOW:.0%} below the references',
    ]
    return '\n'.join([*head, *lines, ''])
