"""What was read of the results is not read again, and says the same."""

import os
import resource
import time

import history_generator as gen
import numpy as np
import pytest
import results_store

from membw.cli import main
from membw.history import cache as history_cache
from membw.history.changes import judge
from membw.history.series import COLUMNS
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
    assert [call[0] for call in read] == [files[1]]
    assert ' 20 nights ' in told(capsys, files[1], '--cache', cache)[1]


def test_what_is_no_cache_is_named_and_left_alone(nights, tmp_path, capsys):
    base, cache = results_store.store(tmp_path / 'r.db', nights), tmp_path / 'history.npz'
    cache.write_bytes(b'something else')
    assert main(['history', str(base), '--cache', str(cache)]) == 2
    assert 'holds no history' in capsys.readouterr().err
    assert cache.read_bytes() == b'something else'


@pytest.mark.parametrize('size', [0, 10, 0.5, 0.99])
def test_a_torn_cache_is_made_anew_with_one_line(nights, tmp_path, capsys, size):
    base, cache = results_store.store(tmp_path / 'r.db', nights), tmp_path / 'history.npz'
    whole = told(capsys, base, '--json', '--cache', cache)
    content = cache.read_bytes()
    cache.write_bytes(content[: int(size * len(content)) if size < 1 else size])
    code = main(['history', str(base), '--json', '--cache', str(cache)])
    out, err = capsys.readouterr()
    assert (code, out) == whole
    assert err.startswith(f"membw: '{cache}' is damaged and made anew") and err.count('\n') == 1
    assert len(cache.read_bytes()) == len(content)


def test_of_sources_that_changed_only_these_are_read_again(nights, read, tmp_path, capsys):
    files = []
    for i, night in enumerate(nights):
        files.append(tmp_path / f'{i:02}.json')
        results_store.write_report(files[-1], night)
    cache = tmp_path / 'history.npz'
    first = told(capsys, *files, '--json', '--cache', cache)
    os.utime(files[7], (1, 1))
    read.clear()
    assert told(capsys, *files, '--json', '--cache', cache) == first
    assert [call[0] for call in read] == [files[7]]


def test_a_year_is_read_from_it_and_judged_in_a_minute_and_two_gib(tmp_path):
    """A tenth of the nodes by default."""
    nodes = 8000 if FULL else 800
    series = gen.healthy(nodes, 365, 11)
    gen.step(series, 7, 300, 0.03)
    cache = tmp_path / 'history.npz'
    history_cache.save(cache, filled(series))
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
    assert took < 60 and peak < 2


def filled(series):
    """The Collector that has read all of `series`."""
    collector = history_cache.Collector()
    nodes, nights = series.rates.shape[1:]
    names = 'synthetic:node', 'stream', 'gcc-o2', 'likwid', None
    rows = collector.groups[names, series.metrics]
    rows.nodes = {name: i for i, name in enumerate(series.nodes)}
    rows.provenances = series.provenances
    every = {
        'node': np.repeat(np.arange(nodes), nights), 'day': np.tile(series.nights, nodes),
        'ranks': np.ones(nodes * nights), 'key': np.arange(nodes * nights),
        'rates': np.moveaxis(series.rates, 0, 2),
    }  # fmt: skip
    for column, kind in COLUMNS.items():
        values = every.get(column, np.zeros(nodes * nights))
        rows.stored[column] = values.astype(kind).ravel()
    collector.sources = [{'identity': 'a year', 'nothing': 0, 'problems': []}]
    return collector
