"""Runs of a synthetic fleet under an acceptance protocol, from a seed; also a command:

python acceptance_fleet.py FILE.jsonl SEED RUNS NODE=LEVEL ...   e.g. n001=1.02 n002=0.95

LEVEL is the node's true bandwidth as a share of the contract (300 GB/s triad, 270 copy).
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import fleet_generator
import numpy as np
import yaml

from membw.accept.protocol import checksum

CONTRACT = {'triad': 300.0, 'copy': 270.0}
NOISE = 0.004
FLAGS = '-O2 -fopenmp -mcmodel=medium'  # of gcc-o2
BEGIN = datetime(2026, 12, 1, tzinfo=timezone.utc)


def rows(levels, runs, seed, noise=NOISE, later=0, apart=1 / 6):
    """Records of `runs` runs of each node; levels is {node: level}; `later`, `apart` in hours."""
    rng = np.random.default_rng(seed)
    best = 1000 * np.array([CONTRACT['copy'], 300, 300, CONTRACT['triad']])  # MB/s, as KERNELS
    found = []
    for number in range(runs):
        shares = np.array(list(levels.values())) * (1 + rng.normal(0, noise, len(levels)))
        rates = shares[:, None, None] * best[None, None, :]
        fleet = fleet_generator.Synthetic(rates, np.zeros(len(levels)))
        when = BEGIN + timedelta(hours=later + apart * number)
        for record, node in zip(fleet_generator.records(fleet), levels, strict=True):
            record |= {'host': node, 'time': when.strftime('%Y-%m-%dT%H:%M:%SZ')}
            record['rank'], record['ranks'] = 0, 1
            record['build'] |= {'flags': FLAGS}
            record['threads_on'] = [{'thread': 0, 'cpu': 0, 'affinity': '0'}]
            record['facts']['numa'] = {'0': {'cpus': '0', 'distances': '10'}}
            found.append(record)
    return found


def make_invalid(record, reason='disturbed', detail='8 % of the CPU time went to others'):
    record['verdict'] = 'INVALID'
    record['reasons'] = [{'reason': reason, 'detail': detail, 'allowed': False}]
    return record


def write_signed(agreed, path):
    """A protocol that all its parties have signed."""
    signed = {'name': 'N. N.', 'date': '2026-08-31', 'protocol_sha256': checksum(agreed)}
    signatures = [{'party': party, **signed} for party in agreed['parties']]
    Path(path).write_text(yaml.safe_dump({**agreed, 'signatures': signatures}))
    return str(path)


def write(found, path):
    Path(path).write_text(''.join(json.dumps(row) + '\n' for row in found))
    return path


if __name__ == '__main__':
    file, seed, runs, *pairs = sys.argv[1:]
    levels = {node: float(level) for node, level in (p.split('=') for p in pairs)}
    write(rows(levels, int(runs), int(seed), later=int(seed)), file)
