"""Keeps what was read of the results, so that a year of them is read once."""

import json
import os
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from zipfile import BadZipFile

import numpy as np

from membw.errors import MembwError
from membw.files import refuse_special, write_whole
from membw.history.series import ALONE, COLUMNS, NAMED, Collector
from membw.results.metrics import Metric
from membw.results.provenance import FIELDS

# what was read by other rules is read again
RULES = ['membw-history-5', list(NAMED), list(ALONE), list(FIELDS)]
BROKEN = (
    OSError, ValueError, KeyError, IndexError, TypeError, EOFError, BadZipFile, zlib.error,
    NotImplementedError,
)  # fmt: skip


def collect(sources, cache=None, collector=None):
    """(series, Left) of (identity, load) pairs; what `cache` knows is not loaded again.

    `collector`: of that cache already, and of what has no identity.
    """
    collector = collector or load(cache)
    known = {source['identity'] for source in collector.sources}
    lasting, is_fresh = known & {None}, False
    for identity, read in sources:  # one at a time: a pipe has them as they come
        lasting.add(identity)
        if identity is None or identity not in known:
            collector.add(identity, *read())
            is_fresh = True
    gone = known - lasting
    collector.without(gone)
    # ranks in files of their own wait for each other: such a collection has no state to keep
    keep = cache and (is_fresh or gone) and None not in lasting and not collector.alone
    collector.gather()
    if not keep:
        return collector.series()
    with ThreadPoolExecutor(1) as pool:  # a process would make copies of what series() writes
        saving = pool.submit(save, cache, collector)
        series = collector.series()
        saving.result()
    return series


def load(cache):
    """A Collector of what `cache` has; empty where there is none, or a torn one."""
    refuse_special(cache or '', "'--cache FILE' names a file")
    if not cache or not os.path.exists(cache):
        return Collector()
    _refuse_another_file(cache)
    try:
        with np.load(cache) as tables:
            index = json.loads(tables['index'].tobytes())
            return _restored(index, tables) if index['rules'] == RULES else Collector()
    except BROKEN as err:
        print(f"membw: '{cache}' is damaged and made anew: {err}", file=sys.stderr)
        return Collector()


def _refuse_another_file(cache):
    """An archive of numpy is a zip file; what is none is not ours to write over."""
    try:
        with open(cache, 'rb') as stream:
            start = stream.read(4)
    except OSError as err:
        raise MembwError(f"cannot read '{cache}': {err.strerror}") from err
    if start and start != b'PK\x03\x04':
        raise MembwError(f"'{cache}' holds no history", 'give a file of its own, or delete it')


def _restored(index, tables):
    collector = Collector()
    collector.sources, collector.files = index['sources'], index.get('files', {})
    for i, group in enumerate(index['groups']):
        metrics = tuple(Metric(*row) for row in group['metrics'])
        rows = collector.groups[tuple(group['names']), metrics]
        rows.nodes = {name: n for n, name in enumerate(group['nodes'])}
        rows.provenances = group['provenances']
        rows.software = {tuple(made.items()): n for n, made in enumerate(rows.provenances)}
        rows.stored = {c: np.asarray(tables[f'{c}-{i}'], kind) for c, kind in COLUMNS.items()}
        if len({len(rows.stored[c]) for c in COLUMNS if c != 'rates'}) > 1:
            raise ValueError('columns of different lengths')
    return collector


def _narrow(numbers):
    """In as few bytes as they need: what is written is what takes the time."""
    is_whole = numbers.dtype.kind == 'i' and numbers.min(initial=0) >= 0
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0))) if is_whole else numbers


def save(cache, collector):
    """In one step: a call that is killed leaves the old file."""
    index = {'rules': RULES, 'sources': collector.sources, 'groups': []}
    met = {source['identity'] for source in collector.sources}
    index['files'] = {
        path: known for path, known in collector.files.items()
        if all(piece[0] in met for piece in known[1])
    }  # fmt: skip
    tables = {}
    for i, ((names, metrics), rows) in enumerate(collector.groups.items()):
        index['groups'].append({
            'names': names, 'metrics': metrics, 'nodes': list(rows.nodes),
            'provenances': rows.provenances,
        })  # fmt: skip
        tables |= {f'{c}-{i}': _narrow(rows.stored[c]) for c in COLUMNS}
    tables['index'] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
    write_whole(cache, lambda file: np.savez(file, **tables))
