"""Which pairs are measured, and what is said of their samples."""

import functools
import itertools
import os
import subprocess

import numpy as np
import pytest
import topologies
from changed_source import OTHER_MACHINE
from scipy import stats


@pytest.fixture(scope='module')
def probe(build_program):
    """run(words, tree=, text=): output of tests/probes/pairs.c on that machine's /sys."""
    program = build_program('tests/probes/pairs.c', changes=OTHER_MACHINE)

    def run(*words, tree='/', text=''):
        done = subprocess.run([program, *words], input=text, capture_output=True, text=True,
                              env=os.environ | {'MACHINE': str(tree)})  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def statistics(probe, values, *words):
    names = ('min', 'median', 'max', 'low', 'high')
    text = '\n'.join(repr(float(value)) for value in values)
    return dict(zip(names, map(float, probe(*words, text=text).split())))


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


# 60 numbers in six parts: how many of each part's ten are above the middle, and the ranks of the
# interval, 22 and 39 of independent ones
IN_TURN = {
    'parts that are alike narrow nothing': ((5, 5, 5, 5, 5, 5), 22, 39),
    'parts that differ, halves that do not': ((7, 3, 5, 5, 3, 7), 17, 44),
    'a step': ((10, 10, 10, 0, 0, 0), 1, 60),
}


@pytest.mark.parametrize('above, low, high', IN_TURN.values(), ids=IN_TURN)
def test_what_is_measured_in_turn_has_a_wider_interval_where_its_parts_differ(
    probe, above, low, high
):
    lower, upper = iter(range(1, 31)), iter(range(31, 61))
    values = [next(upper if place < count else lower) for count in above for place in range(10)]
    got = statistics(probe, values, 'turn')
    assert (got['low'], got['high']) == (low, high)


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
def test_all_pairs_come_once_and_in_rounds_every_core_has_one_partner(probe, tmp_path, cores):
    all_of_them = sorted(itertools.combinations(range(cores), 2))
    pairs = pairs_of(probe('all', f'0-{cores - 1}', tree=tmp_path))
    assert sorted((one, other) for _, one, other in pairs) == all_of_them
    lines = probe('rounds', str(cores), tree=tmp_path).splitlines()
    rounds = [[tuple(map(int, word.split('-'))) for word in line.split()] for line in lines]
    assert sorted(pair for line in rounds for pair in line) == all_of_them
    assert len(rounds) == (cores - 1 if cores % 2 == 0 else cores)
    for line in rounds:
        assert len({cpu for pair in line for cpu in pair}) == 2 * len(line) >= cores - 1
