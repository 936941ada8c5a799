"""What was read of the results is not read again, and says the same."""

import os
import resource
import time
from array import array

import history_generator as gen
import numpy as np
import pytest
import results_store

from membw.cli import main
from membw.history import cache as history_cache
from membw.history.changes import judge
from membw.results import read as results

FULL = bool(os.environ.get('MEMBW_HISTORY_FULL'))


@pytest.fixture
def nights():
    series = gen.healthy(8, 40, 1)
    gen.step(series, 3, 20, 0.05)
    return list(results_store.sessions_of(series))


@pytest.fixture
def read(monkeypatch):
    """Names of the sources that were read since it was last emptied."""
    found = []
    for name in ('read_stored_session', '_read_file'):
        real = getattr(results, name)

        def spy(*args, real=real):
            found.append(args)
            return real(*args)

        monkeypatch.setattr(results, name, spy)
    return found


def told(capsys, *words):
    code = main(['history', *map(str, words)])
    return code, capsys.readouterr().out


def test_the_second_call_reads_only_the_new_night(nights, read, tmp_path, capsys):
    base, cache = tmp_path / 'results.db', tmp_path / 'history.npz'
    results_store.store(base, nights[:39])
    first = told(capsys, base, '--json', '--cache', cache)
    assert len(read) == 39
    read.clear()
    assert told(capsys, base, '--json', '--cache', cache) == first
    assert read == []
    results_store.store(base, nights[39:], first=39)
    cached = told(capsys, base, '--json', '--cache', cache)
    assert len(read) == 1
    assert cached == told(capsys, base, '--json')
    assert cached[0] == 1 and 'n00004' in cached[1]


def test_a_file_that_changed_or_went_is_no_longer_in_it(nights, read, tmp_path, capsys):
    files = []
    for name, part in (('a', nights[:10]), ('b', nights[10:])):
        cases = [case for night in part for case in night]
        files.append(tmp_path / f'{name}.json')
        results_store.write_report(files[-1], cases)
    cache = tmp_path / 'history.npz'
    told(capsys, *files, '--cache', cache)
    results_store.write_report(files[1], [case for night in nights[10:30] for case in night])
    read.clear()
    assert ' 30 nights ' in told(capsys, *files, '--cache', cache)[1]
    assert len(read) == 2
    assert ' 20 nights ' in told(capsys, files[1], '--cache', cache)[1]


def test_what_is_no_cache_is_named(nights, tmp_path, capsys):
    base, cache = results_store.store(tmp_path / 'r.db', nights), tmp_path / 'history.npz'
    for content in (b'something else', b'PK\x03\x04 cut off'):
        cache.write_bytes(content)
        assert main(['history', str(base), '--cache', str(cache)]) == 2
        assert 'holds no history' in capsys.readouterr().err


def test_a_year_is_read_from_it_and_judged_in_a_minute_and_two_gib(tmp_path):
    """A tenth of the nodes by default."""
    nodes = 8000 if FULL else 800
    series = gen.healthy(nodes, 365, 11)
    gen.step(series, 7, 300, 0.03)
    cache = tmp_path / 'history.npz'
    history_cache.save(cache, filled(series), ['a year'])
    del series
    begun = time.process_time()
    every, _ = history_cache.collect([('a year', None)], cache)
    found = judge(every)
    took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = cache.stat().st_size / 1e6
    print(f'\n{nodes} nodes x 4 kernels x 365 nights from a cache of {size:.0f} MB: '
          f'{took:.1f} s of CPU, peak {peak:.2f} GiB')  # fmt: skip
    assert {c.node for c in found} == {'n00008'}
    assert took < 60 * nodes / 8000 + 5 and peak < 2


def filled(series):
    """The Collector that has read all of `series`."""
    collector = history_cache.Collector()
    nodes, nights = series.rates.shape[1:]
    rows = collector.groups[('synthetic:node', 'stream', 'gcc-o2', 'likwid'), series.metrics]
    rows.nodes = {name: i for i, name in enumerate(series.nodes)}
    rows.provenances = series.provenances
    rows.node = array('i', np.repeat(np.arange(nodes, dtype=np.intc), nights).tobytes())
    rows.day = array('i', np.tile(series.nights.astype(np.intc), nodes).tobytes())
    rows.made = array('i', np.zeros(nodes * nights, dtype=np.intc).tobytes())
    rows.ranks = array('i', np.ones(nodes * nights, dtype=np.intc).tobytes())
    rows.rates = array('d', np.moveaxis(series.rates, 0, 2).tobytes())
    random = np.random.default_rng(1)
    collector.seen = set(random.integers(2**63, size=nodes * nights).tolist())
    return collector
