"""Made-up acceptances: a protocol of eight nodes, their runs, and changes of them."""

import subprocess

from made_up_records import changed, runs

from membw.accept.signatures import command

BASE = {
    'schema': 'membw-protocol-3', 'title': 'a machine of tests',
    'parties': {'buyer': {'name': 'us'}, 'vendor': {'name': 'them'}},
    'period': {'from': '2026-10-01', 'to': '2026-10-14'},
    'contract': {'triad': 300.0, 'copy': 270.0},
    'nodes': {'count': 8, 'names': 'n[001-008]'},
    'runs': {'test': 'stream', 'system': 'thin', 'preset': 'gcc-o2', 'pinning': 'likwid',
             'repetitions': 3, 'statistic': 'median'},
    'rule': {'allowed_failures': 1}, 'retest': {'repetitions': 3},
}  # fmt: skip
NODES = [f'n{i:03}' for i in range(1, 9)]


def sign(path, party, key):
    """As --plan prints it."""
    words = command(str(path), party).replace('~/.ssh/id_ed25519', str(key.with_suffix('')))
    subprocess.run(words, shell=True, check=True, capture_output=True)


def fleet(slow=(), triad=290.0, nodes=NODES, count=3, **changes):
    return runs({node: triad if node in slow else 306.0 for node in nodes}, count, **changes)


def retest(nodes, triad, count=3, day='2026-10-02'):
    return runs(dict.fromkeys(nodes, triad), count, day)


def of(host, records, **changes):
    return [changed(r, **changes) if r['host'] == host else r for r in records]


def reads(record, **figures):
    """The record with another figure, and the times that it follows from."""
    for name, gbs in figures.items():
        record['metrics'][name]['value'] = gbs
        record['kernels'][name] |= {'times_s': [2.4 / gbs] * 10, 'min_s': 2.4 / gbs}
    return record


def each(triads, first=0, **changes):
    """A run of n1 for each figure, ten minutes after the one before."""
    return [
        row
        for i, triad in enumerate(triads, first)
        for row in runs({'n1': triad}, 1, time=f'2026-10-01T{i // 6:02}:{i % 6}0:00Z', **changes)
    ]


def only_of(decision, name):
    return next(node for node in decision.nodes if node.name == name)


def said_of(decision):
    of_runs = (run.counted for node in decision.nodes for run in node.runs)
    return '; '.join([*decision.reasons, *of_runs])
