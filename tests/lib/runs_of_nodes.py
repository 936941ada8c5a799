"""Records of runs on several nodes, as `membw run` keeps them."""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zlib import crc32

CASE = {
    'test': 'stream', 'system': 'thin', 'partition': 'thin', 'environ': 'gcc-o2',
    'pinning': 'likwid', 'parameters': '', 'source_sha256': 'a' * 64,
}  # fmt: skip
BUILD = {'compiler': 'gcc 12.2.0', 'flags': '-O2 -fopenmp -mcmodel=medium'}
FACTS = {'cpu_model': 'Synthetic 9000'}


def record(node, when, figures, unit='GB/s', better='higher', bound=False, **changes):
    """A record of one process; `figures`: {metric: value}, `when`: a datetime."""
    row = {'unit': unit, 'better': better} | ({'bound': 'lower'} if bound else {})
    rows = {name: {'value': value, **row} for name, value in figures.items()}
    made = {
        'schema': 'membw-record-2', 'program': 'stream', 'host': node, 'rank': 0, 'ranks': 1,
        'time': f'{when:%Y-%m-%dT%H:%M:%SZ}', 'metrics': rows, 'verdict': 'VALID', 'reasons': [],
        'kernels_set': 'standard', 'language': 'c', 'element_bytes': 8, 'threads': 24,
        'build': dict(BUILD), 'facts': dict(FACTS), 'case': dict(CASE),
    }  # fmt: skip
    for key, value in changes.items():
        place, *rest = key.split('__')
        if rest:
            made[place][rest[0]] = value
        else:
            made[place] = value
    return made


def runs(nodes, count, day='2026-10-01', minutes=20, **changes):
    """`count` runs of each node from 1 o'clock on; `nodes`: {name: triad in GB/s}.

    No two figures are equal: they differ by less than 0.1 %.
    """
    begin = datetime.strptime(day, '%Y-%m-%d').replace(tzinfo=timezone.utc) + timedelta(hours=1)
    found = []
    for number in range(count):
        for place, (node, triad) in enumerate(nodes.items()):
            own = (
                1e-5 * (number * 7 % 10)
                + 1e-6 * (place % 10)
                + 1e-11 * (crc32(node.encode()) % 9973)
                + 1e-7 * begin.day
            )
            value = triad * (1 + own)
            figures = {'copy': 0.9 * value, 'triad': value}
            when = begin + timedelta(minutes=minutes * number)
            found.append(record(node, when, figures, **changes))
    return found


def invalid(made, reason='wrong-placement', detail='pages of domain 1 on domain 0'):
    """The same record, with a wrong figure."""
    reasons = [{'reason': reason, 'detail': detail, 'allowed': False}]
    return made | {'verdict': 'INVALID', 'reasons': reasons}


def write(made, path):
    """Records into a file, whose path is returned."""
    Path(path).write_text(''.join(json.dumps(row) + '\n' for row in made))
    return str(path)
