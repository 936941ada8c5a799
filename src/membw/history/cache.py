"""Keeps what was read of the results, so that a year of them is read once."""

import json
import os
from array import array
from zipfile import BadZipFile

import numpy as np

from membw.errors import MembwError
from membw.history.series import ALONE, NAMED, Collector, Left
from membw.results.metrics import Metric
from membw.results.provenance import FIELDS

# what was read by other rules is read again
RULES = ['membw-history-2', list(NAMED), list(ALONE), list(FIELDS)]
COLUMNS = ('node', 'day', 'made', 'ranks', 'rates')


def collect(sources, cache=None):
    """(series, Left) of (identity, load) pairs; what `cache` knows is not loaded again."""
    collector, known = load(cache, {identity for identity, _ in sources})
    fresh = [(identity, read) for identity, read in sources if identity not in known]
    for _, read in fresh:
        collector.add(*read())
    lasting = [identity for identity, _ in sources]
    # ranks in files of their own wait for each other: such a collection has no state to keep
    if cache and fresh and None not in lasting and not collector.alone:
        save(cache, collector, lasting)
    return collector.series(), collector.left


def load(cache, present):
    """(Collector, identities that are in it); empty where a source changed or is gone."""
    if not cache or not os.path.exists(cache):
        return Collector(), set()
    try:
        with np.load(cache) as tables:
            index = json.loads(tables['index'].tobytes())
            if index['rules'] != RULES or not present.issuperset(index['sources']):
                return Collector(), set()
            return _restored(index, tables), set(index['sources'])
    except (OSError, ValueError, KeyError, BadZipFile) as err:
        raise MembwError(f"'{cache}' holds no history: {err}", 'delete it') from err


def _restored(index, tables):
    collector = Collector()
    collector.left = Left(**index['left'])
    collector.seen = set(tables['seen'].tolist())
    for i, group in enumerate(index['groups']):
        metrics = tuple(Metric(*row) for row in group['metrics'])
        rows = collector.groups[tuple(group['names']), metrics]
        rows.nodes = {name: n for n, name in enumerate(group['nodes'])}
        rows.provenances = group['provenances']
        rows.software = {tuple(made.items()): n for n, made in enumerate(rows.provenances)}
        for column in COLUMNS:
            kind = getattr(rows, column).typecode
            setattr(rows, column, array(kind, tables[f'{column}-{i}'].tobytes()))
    return collector


def save(cache, collector, sources):
    """In one step: a call that is killed leaves the old file."""
    index = {'rules': RULES, 'sources': sources, 'left': vars(collector.left), 'groups': []}
    tables = {'seen': np.array(list(collector.seen), dtype=np.uint64)}
    for i, ((names, metrics), rows) in enumerate(collector.groups.items()):
        index['groups'].append({
            'names': names, 'metrics': metrics, 'nodes': list(rows.nodes),
            'provenances': rows.provenances,
        })  # fmt: skip
        tables |= {f'{column}-{i}': np.array(getattr(rows, column)) for column in COLUMNS}
    tables['index'] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
    beside = f'{cache}.{os.getpid()}.npz'
    try:
        np.savez(beside, **tables)
        os.replace(beside, cache)
    except OSError as err:
        raise MembwError(f"cannot write '{cache}': {err.strerror}") from err
