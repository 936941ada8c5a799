"""Which pairs are measured, and what is said of their samples."""

import functools
import itertools
import os
import subprocess

import numpy as np
import pytest
import topologies
from changed_source import copy_source, other_machine
from lib import imb_table
from places import ROOT
from scipy import stats


@pytest.fixture(scope='module')
def probe(tmp_path_factory):
    """run(words, tree=, text=): output of tests/probes/pairs.c on that machine's /sys."""
    folder = tmp_path_factory.mktemp('pairs')
    root, program = folder / 'root', folder / 'pairs'
    root.symlink_to('/')
    copy_source(folder, *other_machine(root))
    line = ['gcc', '-O1', '-fopenmp', folder / 'tests/probes/pairs.c', '-o', program]
    subprocess.run(line, check=True)

    def run(*words, tree='/', text=''):
        root.unlink()
        root.symlink_to(tree)
        done = subprocess.run([program, *words], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def statistics(probe, values):
    names = ('min', 'median', 'max', 'low', 'high')
    text = '\n'.join(repr(float(value)) for value in values)
    return dict(zip(names, map(float, probe(text=text).split())))


@pytest.mark.parametrize('count', [1, 5, 6, 11, 40, 1000, 5000])
def test_the_interval_of_the_median_is_scipys(probe, count):
    values = np.random.default_rng(count).lognormal(size=count)
    got = statistics(probe, values)
    assert got['median'] == np.median(values)
    assert (got['min'], got['max']) == (values.min(), values.max())
    if count < 6:
        assert (got['low'], got['high']) == (values.min(), values.max()), 'there is none'
        return
    interval = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    if count <= 1000:
        assert (got['low'], got['high']) == (interval.low, interval.high)
    else:  # the normal law: a rank further out at most
        ranks = np.sort(values).searchsorted
        assert ranks(interval.low) - 1 <= ranks(got['low']) <= ranks(interval.low)
        assert ranks(interval.high) <= ranks(got['high']) <= ranks(interval.high) + 1


# --- all sizes together ------------------------------------------------------------------------


def curve(probe, points):
    latency, bandwidth, half, *knees = probe(
        'curve', text=''.join(f'{size} {us!r}\n' for size, us in points)
    ).split()
    return float(latency), float(bandwidth), float(half), list(map(int, knees))


def test_a_line_of_hockney_is_fitted_to_its_own_parameters(probe):
    """2 us and 10 GB/s: half of it at 20,000 bytes; noise of 1 % moves it little."""
    rng = np.random.default_rng(1)
    sizes = [0, *(2**i for i in range(23))]
    latency, bandwidth, half, knees = curve(probe, [(n, 2 + n / 1e4) for n in sizes])
    assert (latency, knees) == (2, [])
    assert bandwidth == pytest.approx(1e4) and half == pytest.approx(2e4)
    noisy = [(n, (2 + n / 1e4) * (1 + rng.normal(0, 0.01))) for n in sizes]
    _, bandwidth, half, knees = curve(probe, noisy)
    assert bandwidth == pytest.approx(1e4, rel=0.03) and half == pytest.approx(2e4, rel=0.1)
    assert knees == []


def test_the_published_curves_of_ulysses_show_their_protocols(probe):
    """Two sockets: 32768 B took 11.46 us and 65536 B 11.59 us. One socket: no such step."""
    rows = {
        pair: imb_table.rows((ROOT / f'tests/data/ulysses-imb-{pair}.txt').read_text())
        for pair in ('0-1', '0-13')
    }
    points = {pair: [(row.bytes, row.time_us) for row in found] for pair, found in rows.items()}
    latency, bandwidth, half, knees = curve(probe, points['0-13'])
    assert latency == 0.47 and knees == [65536] and 6500 < bandwidth < 7000
    assert 8192 < half < 65536
    latency, bandwidth, half, knees = curve(probe, points['0-1'])
    assert latency == 0.17 and knees == [] and 11500 < bandwidth < 12500


# --- pairs -------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def trees(tmp_path_factory):
    folder = tmp_path_factory.mktemp('trees')
    return functools.cache(lambda name: topologies.Machine(name).write(folder / name))


def pairs_of(text):
    """[(class, one, other)] of one line."""
    split = (word.partition(':') for word in text.split())
    return [(kind, *map(int, cpus.split('-'))) for kind, _, cpus in split]


def test_ulysses_offers_the_nearest_and_the_farthest_pair_of_each_class(probe, trees):
    machine = topologies.Machine('ulysses')
    tree = trees('ulysses')
    got = pairs_of(probe('classes', topologies.listed(machine.online), tree=tree))
    assert {kind for kind, *_ in got} <= {'smt', 'llc', 'domain', 'socket', 'node'}
    assert [p for p in got if p[0] == 'llc'] == [('llc', 0, 1), ('llc', 0, 9)]
    assert [p for p in got if p[0] == 'node'] == [('node', 9, 10), ('node', 0, 19)]


@pytest.mark.parametrize('name', topologies.NAMES)
def test_every_recorded_machine_has_pairs_and_none_with_itself(probe, trees, name):
    machine = topologies.Machine(name)
    if len(machine.online) < 2:
        pytest.skip('one CPU')
    got = pairs_of(probe('classes', topologies.listed(machine.online), tree=trees(name)))
    assert got and all(one != other for _, one, other in got)
    assert len(got) == len(set(got)) <= 9
    assert {cpu for _, *pair in got for cpu in pair} <= set(machine.online)


@pytest.mark.parametrize('cores', [2, 3, 20, 33, 192])
def test_all_pairs_come_once_in_rounds_where_every_core_has_one_partner(probe, tmp_path, cores):
    rounds = [
        pairs_of(line) for line in probe('rounds', f'0-{cores - 1}', tree=tmp_path).splitlines()
    ]
    pairs = [(one, other) for line in rounds for _, one, other in line]
    assert sorted(pairs) == list(itertools.combinations(range(cores), 2))
    assert len(rounds) == (cores - 1 if cores % 2 == 0 else cores)
    for line in rounds:
        busy = [cpu for _, *pair in line for cpu in pair]
        assert len(busy) == len(set(busy)) >= cores - 1


@pytest.mark.skipif(os.cpu_count() < 2, reason='this machine has one CPU, a pair takes two')
def test_two_pairs_at_the_same_time_lose_no_turn(probe):
    one, other = sorted(os.sched_getaffinity(0))[:2]
    lines = probe('together', str(one), str(other)).splitlines()
    assert len(lines) == 2
    for blocks, played, turns, wrong, *elsewhere in (map(int, line.split()) for line in lines):
        assert 0 < blocks <= played < turns and wrong == 0 and elsewhere == [-1, -1]
