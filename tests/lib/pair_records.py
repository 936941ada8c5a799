"""Synthetic results of core_pairs, pingpong and imb_pingpong on nodes that pose as Ulysses."""

import itertools
import json

import fleet_generator
import numpy as np
import synthetic_run
from places import ROOT
from record_schema import check

from membw.results import imb_table

BEGIN = '2026-11-20T03:00:00Z'


def published(pair):
    """Rows of the founding source's own table."""
    return imb_table.rows((ROOT / f'tests/data/ulysses-imb-{pair}.txt').read_text())


def _record(metrics, **own):
    (row,) = fleet_generator.records(fleet_generator.healthy(1, 1))
    del row['kernels']
    row |= {'schema': 'membw-record-2', 'program': 'pingpong', 'time': BEGIN, 'exit_status': 0,
            'rank': 0, 'ranks': 1, 'threads': 2, 'metrics': metrics, **own}  # fmt: skip
    return check(row)


def cores(sockets=2, per_socket=10, far=None, seed=1, interleaved=False):
    """Every pair; `far`: a core that takes three times as long; `interleaved`: the CPUs of the
    sockets take turns."""
    rng = np.random.default_rng(seed)
    count = sockets * per_socket
    socket = {c: c % sockets if interleaved else c // per_socket for c in range(count)}
    pairs, metrics = [], {}
    for one, other in itertools.combinations(range(count), 2):
        near = socket[one] == socket[other]
        for home in 'ab':
            ns = (30 if near else 95 + 20 * (home == 'b')) * (1 + rng.normal(0, 0.02))
            ns *= 3 if far in (one, other) else 1
            name = f'cas_{one}_{other}' + ('_home_b' if home == 'b' else '')
            pairs.append({'metric': name, 'method': 'cas', 'cpu_a': one, 'cpu_b': other,
                          'class': 'llc' if near else 'node', 'home': home,
                          'median_ns': float(ns)})  # fmt: skip
            metrics[name] = {'value': float(ns), 'unit': 'ns', 'better': 'lower'}
    return _record(metrics, pairs=pairs)


def messages(share=1.0):
    """Both pairs of Ulysses, so many times the published times."""
    rows, metrics = [], {}
    for pair, kind in (('0-1', 'llc'), ('0-13', 'node')):
        one, other = map(int, pair.split('-'))
        for row in published(pair):
            name, us = f'mpi_{one}_{other}_{row.bytes}', share * row.time_us
            rows.append({'metric': name, 'cpu_a': one, 'cpu_b': other, 'class': kind,
                         'bytes': row.bytes, 'median_us': us})  # fmt: skip
            metrics[name] = {'value': us, 'unit': 'us', 'better': 'lower'}
    return _record(metrics, messages=rows)


def folder(path):
    """results/ of one run: core_pairs, pingpong, and imb_pingpong between the sockets."""
    for name in ('reports', 'records'):
        (path / name).mkdir(parents=True, exist_ok=True)
    on_ulysses = {'system': 'ulysses', 'partition': 'regular'}
    cases = []
    for name, record in (('core_pairs', cores()), ('pingpong', messages(1.2))):
        file = path / 'records' / f'{name}.json'
        file.write_text(json.dumps(record) + '\n')
        cases.append(synthetic_run.case(name, 'gcc-o2', record=str(file), **on_ulysses))
    held = {
        f'ulysses:regular:t_{row.bytes}': [1.1 * row.time_us, row.time_us, -0.2, 0.2, 'us', 'pass']
        for row in published('0-13')
    }
    cases.append(
        synthetic_run.case('imb_pingpong', 'gcc-o2', pair='0-13', perfvalues=held, **on_ulysses)
    )
    info = {'time_start_unix': synthetic_run.START, 'time_end_unix': synthetic_run.START + 60,
            'uuid': 'p', 'version': '4.10.4', 'cmdline': 'reframe (synthetic)'}  # fmt: skip
    text = json.dumps({'session_info': info, 'runs': [{'testcases': cases}]})
    (path / 'reports' / 'run-000.json').write_text(text)
    return path
