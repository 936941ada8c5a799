"""How often a run's interval holds the next run's figure, on made-up series of repetitions.

Its constants were chosen on runs of a real machine (docs/evidence.md), by none of these.
`pytest -s` prints the table.
"""

import subprocess

import numpy as np
import pytest

PAIRS = 200
BASE = 0.02  # s


@pytest.fixture(scope='module')
def intervals(build_program):
    """(best, low, high) of each series of times, as stream finds them."""
    probe = build_program('tests/probes/repetitions.c')

    def of(runs):
        lines = ('0 ' + ' '.join(f'{time:.9f} 0' for time in [1.0, *run]) for run in runs)
        text = '\n'.join(lines) + '\n'
        done = subprocess.run([probe], input=text, capture_output=True, text=True, check=True)
        return np.array([line.split()[1:] for line in done.stdout.splitlines()], dtype=float)

    return of


def steady(random, shape):
    return 1 + 0.003 * np.abs(random.normal(size=shape))


def heavy_tail(random, shape):
    return 1 + 0.01 * random.pareto(1.5, shape)


def drift(random, shape):
    """1 % from run to run, up for ten and down again."""
    place = np.arange(shape[0] * shape[1]).reshape(shape) / shape[1]
    return steady(random, shape) * (1 + 0.01 * np.abs(place % 20 - 10))


def bursts(random, shape):
    """40 % slower for stretches of 25 repetitions, 60 apart, in the mean."""
    return steady(random, shape) * np.where(_stretches(random, shape, 60, 25), 1.4, 1)


def two_regimes(random, shape):
    """1.5 times slower for 20 runs, fast for 20."""
    return steady(random, shape) * np.where(np.arange(shape[0]) // 20 % 2, 1.5, 1)[:, None]


def of_each_run(random, shape):
    """What a run has for itself: where its pages lie, say."""
    return steady(random, shape) * (1 + 0.007 * random.normal(size=(shape[0], 1)))


def _stretches(random, shape, apart, long):
    on, place = np.zeros(shape[0] * shape[1], dtype=bool), 0
    while place < len(on):
        begin = place + int(random.exponential(apart))
        place = begin + 1 + int(random.exponential(long))
        on[begin:place] = True
    return on.reshape(shape)


FAMILIES = (steady, heavy_tail, drift, bursts, two_regimes, of_each_run)
# a burst in mid-run may leave a run of ten without an interval, and then it is INVALID
NONE = {(bursts, 10): 0.7}
# a burst that begins between two runs, or ends there, neither of them can know
UNSEEN = {(bursts, 10): 0.85}


@pytest.mark.parametrize('family', FAMILIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize('repetitions', [10, 40, 150])
def test_the_next_run_is_in_the_interval_in_nine_of_ten_pairs(intervals, family, repetitions):
    random = np.random.default_rng(11)
    runs = BASE * family(random, (PAIRS + 1, repetitions))
    best, low, high = intervals(runs).T
    stated = high[:-1] > 0
    share = np.mean(((low[:-1] <= best[1:]) & (best[1:] <= high[:-1]))[stated])
    half = np.median((high[:-1] / best[:-1])[stated]) - 1
    print(
        f'\n{family.__name__} {repetitions}: {share:.0%} of the {stated.mean():.0%} that have '
        f'an interval, half width {half:.1%}'
    )
    assert stated.mean() >= NONE.get((family, repetitions), 1)
    assert share >= UNSEEN.get((family, repetitions), 0.9)
