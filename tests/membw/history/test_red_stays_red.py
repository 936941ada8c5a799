"""A change is said on the first morning that it can be, and stays red until it is back; a short
past says so; noise is measured within a level."""

import made_up_nights as made
import numpy as np
import pytest

from membw.history.changes import find_changes
from membw.statistics.now_and_before import Row, drift, find_steps

AFTER = 7, 8, 10, 12, 13, 14, 20, 28, 35, 45, 60
SHARES = {'one of 1': (1, 1), 'one of 8': (8, 1), 'two of 2': (2, 2), 'half of 8': (8, 4),
          'all of 8': (8, 8)}  # fmt: skip


def red(rates):
    return [c for c in find_changes(made.MadeUp(rates))[0] if c.is_red]


@pytest.mark.parametrize('before, loss', [
    *((before, loss) for loss in (0.05, 0.15) for before in (7, 10, 14, 20, 28, 40, 60)),
    *((before, 0.03) for before in (20, 28, 40, 60)),  # before, the noise is not known
])  # fmt: skip
@pytest.mark.parametrize('share', SHARES)
def test_a_fall_is_red_from_the_seventh_night_on_for_good(share, before, loss):
    nodes, slow = SHARES[share]
    rates = made.normal(2, nodes, before + AFTER[-1])
    # of half of the nodes half of it: they and the other ones lie beside their middle
    loss *= 2 if slow == nodes / 2 else 1
    rates[:slow, before:] *= 1 - loss
    of_night = {n: [c.kind for c in red(rates[:, : before + n])] for n in AFTER}
    assert all('STEP' in kinds for kinds in of_night.values()), of_night


@pytest.mark.parametrize('loss, before', [
    (0.08, 20), (0.08, 40), (0.15, 13), (0.15, 20), (0.15, 40), (0.3, 13), (0.3, 40),
])  # fmt: skip
@pytest.mark.parametrize('share', SHARES)
def test_a_fall_is_red_on_the_first_morning_and_on_each_later_one(share, before, loss):
    nodes, slow = SHARES[share]
    rates = made.normal(3, nodes, before + 10, noise=0.002)
    rates[:slow, before:] *= 1 - loss
    nights = [{c.night for c in red(rates[:, : before + n])} for n in range(1, 11)]
    assert nights == [{made.days(99)[before]}] * 10
    first = red(rates[:, : before + 1])
    assert {c.kind for c in first} == {'TONIGHT'} and not red(rates[:, :before])


def one(*parts, noise=0.003):
    """A series of (nights, level)."""
    levels = np.concatenate([np.full(nights, level, float) for nights, level in parts])
    return levels[None, :, None] * made.normal(1, 1, len(levels), noise=noise) / 180


@pytest.mark.parametrize('parts, kinds', [
    ([(30, 100), (5, 85), (30, 100)], []),  # too short for a STEP
    ([(30, 100), (9, 85), (8, 100)], []),  # back
    ([(30, 100), (9, 85), (3, 100)], ['STEP']),  # for 3 nights
    ([(30, 100), (40, 85), (40, 100)], []),
    ([(30, 100), (40, 85), (40, 95)], ['STEP']),  # better, not back
    ([(30, 100), (40, 85), (40, 92), (40, 100)], []),
    ([(30, 100), (40, 85), (40, 100), (20, 85)], ['STEP']),  # again
    ([(30, 100), (40, 85), (9, 100), (20, 85)], ['STEP']),
    ([(30, 100), (40, 85), (20, 95), (20, 85)], ['STEP']),
    ([(30, 100), (40, 115), (40, 100)], ['STEP']),  # the level that it got used to
    ([(30, 100), (20, 115), (40, 100)], []),
    ([(30, 100), (20, 90), (3, 70)], ['STEP', 'TONIGHT']),
    ([(30, 100), (7, 90), (1, 70)], ['STEP', 'TONIGHT']),
    ([(13, 100), (1, 85)], ['TONIGHT']), ([(12, 100), (1, 85)], []),
    ([(7, 100), (7, 85)], ['STEP']), ([(7, 100), (6, 85)], []),  # 14 nights are needed
])  # fmt: skip
def test_levels_follow_each_other(parts, kinds):
    assert sorted(c.kind for c in red(one(*parts))) == kinds


def test_a_change_that_is_back_says_since_when_and_is_one_line():
    (change,), _ = find_changes(made.MadeUp(one((30, 100), (12, 85), (20, 100))))
    assert (change.night, change.back) == (made.days(99)[30], made.days(99)[42])
    assert f'back since {change.back}' in change.line


def test_the_noise_before_a_step_is_that_of_before():
    """A step in the middle made the limit of its own series larger than any step."""
    row = Row(one((30, 100), (13, 85))[0, :, 0], np.arange(43))
    find_steps([row], 0.02)
    assert [step.first for step in row.steps] == [30] and row.steps[0].limit < 0.03


def test_a_later_night_changes_no_step():
    """Of 100 noisy series with a memory: what was found stays found, with the same numbers."""
    for seed in range(100):
        noise = np.random.default_rng(seed).normal(0, 0.02, 150)
        for t in range(1, 150):
            noise[t] = 0.8 * noise[t - 1] + 0.6 * noise[t]
        last = []
        for end in (40, 80, 150):
            row = Row(100 * (1 + noise[:end]), np.arange(end))
            find_steps([row], 0.02)
            steps = [step._replace(back=None) for step in row.steps]
            assert steps[: len(last)] == last
            last = steps


def test_a_night_of_fewer_than_three_nodes_hides_none():
    """Of a busy fleet: what one node did alone is not what all nodes did."""
    rates = made.normal(1, 8, 60)
    rates[1:, 40:] = np.nan
    rates[0, 40:] *= 0.9
    assert {c.nodes for c in red(rates)} == {('n0000',)}


def test_nothing_got_worse_says_what_would_have_been_found():
    """A loss of the size that is printed is found in 7 nights, but for one in some twenty."""
    found = 0
    for seed in range(40):
        noise = 0.002 + 0.02 * seed / 40
        rates = made.normal(seed, 8, 47, noise=noise)
        _, (noticed,) = find_changes(made.MadeUp(rates[:, :40]))
        rates[3, 40:] *= 1 - noticed.loss
        found += any(c.nodes == ('n0003',) and c.kind == 'STEP' for c in red(rates))
    assert found >= 38
    assert find_changes(made.MadeUp(rates[:, :13]))[1] == []
    (young,) = find_changes(made.MadeUp(rates[:, :20]))[1]
    assert young.loss > 0.04


def test_a_drift_has_the_loss_of_now():
    values = 100 * (1 - 0.001 * np.arange(90.0))
    step = drift(values, 0, 0.02)
    assert step.size == pytest.approx(-0.0628, abs=0.001) and step.nights_after[-1] == 89


def test_a_clean_fleet_has_few_red_mornings():
    """tests/evidence/calm.csv has more of them."""
    every = [
        bool(red(made.normal(seed, 8, night, 4, noise=0.01)))
        for seed in range(8)
        for night in range(14, 41, 4)
    ]
    assert np.mean(every) < 0.02


@pytest.mark.parametrize('loss', [0.022, 0.025])
def test_a_change_of_the_size_of_the_limit_does_not_come_and_go(loss):
    for seed in range(5):
        rates = made.normal(seed, 1, 150, noise=0.003)
        rates[:, 40:] *= 1 - loss
        steps = [[c.night for c in red(rates[:, :n]) if c.kind == 'STEP'] for n in range(41, 151)]
        begin = next((n for n, of in enumerate(steps) if of), 0)
        assert all(of[:1] == steps[begin][:1] for of in steps[begin:])


def test_a_drift_stays_until_half_of_it_is_back():
    fall, part = np.linspace(100, 94, 80), np.full(40, 97.0)
    assert drift(np.concatenate([fall, part]), 0, 0.02).size == pytest.approx(-0.02, abs=0.003)
    assert drift(np.concatenate([fall, np.full(40, 99.0)]), 0, 0.02) is None
