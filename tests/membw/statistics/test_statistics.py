"""Distances from peers and from the nights before, each beside a second way to get it."""

import math
from statistics import median

import numpy as np
import pytest
from scipy.stats import t

from membw.statistics import now_and_before as nights
from membw.statistics import peers


@pytest.mark.parametrize('df', [1, 2, 2.3, 9, 62, 499, 49_999])
def test_students_t_is_scipys(df):
    for value in (0.0, 1e-200, 0.3, 1.0, 2.5, 8.0, 60.0):
        assert peers.tail(value, df) == pytest.approx(t.sf(value, df), rel=1e-9)
    for chance in (0.5, 0.1, 0.01, 1e-3, 2e-7):
        assert peers.quantile(chance, df) == pytest.approx(t.isf(chance, df), rel=1e-9, abs=1e-9)


def test_each_limit_is_the_t_of_its_page():
    for n in (3, 8, 63, 5000):
        assert peers.screening_limit(n) == pytest.approx(t.isf(1 / n, n - 1))
        assert peers.sure_limit(n) == pytest.approx(t.isf(0.01 / n, n - 1))
        deviations = t.isf(0.1, n - 1) * math.sqrt(1 + 1.57 / n)
        assert peers.noticed(n, 0.02) == pytest.approx(0.02 * deviations)
        assert nights.chance(n, 28) == pytest.approx(t.isf(0.001 / n, 9))
    assert peers.screening_limit(2) == 0 and peers.sure_limit(2) == pytest.approx(t.isf(0.005, 1))
    assert peers.sure_limit(1) == peers.noticed(1, 0.02) == math.inf
    assert peers.noticed(2, 0.02) < math.inf
    assert nights.chance(1, 3) == nights.chance(1, 4) == pytest.approx(t.isf(0.001, 1))


def test_the_peers_of_a_figure_are_all_others_that_are_known():
    chance = np.random.default_rng(1)
    for count in range(1, 12):
        values = [math.nan if chance.random() < 0.2 else float(chance.integers(5))
                  for _ in range(count)]  # fmt: skip
        for place, found in enumerate(peers.peers_medians(values)):
            others = [v for i, v in enumerate(values) if i != place and v == v]
            assert found == (pytest.approx(median(others)) if others else pytest.approx(
                math.nan, nan_ok=True)), values  # fmt: skip


def test_what_is_not_known_has_no_part_in_a_deviation():
    assert peers.middle([math.nan, 3.0, 1.0]) == 2.0 and math.isnan(peers.middle([math.nan]))
    assert math.isnan(peers.robust_deviation([math.nan]))
    away = [0.0, 0.02, -0.02, 0.04, -0.04, math.nan]
    assert peers.robust_deviation(away) == pytest.approx(1.4826 * 0.02)
    assert peers.robust_deviation([0.0, 0.003, -0.003]) == 0.005  # 0.0044


def row(*values, worse=-1):
    values = 100 * np.array(values)
    return nights.Row(values, np.arange(len(values)), worse)


STEADY = [1.0] * 28
LIMIT = t.isf(0.001, 9) * 0.005  # of one node with the least deviation: 2.15 %


@pytest.mark.parametrize('before, newest, worse, is_found', [
    (STEADY, 1 - LIMIT + 1e-4, -1, False), (STEADY, 1 - LIMIT - 1e-4, -1, True),
    (STEADY, 1 + LIMIT + 1e-4, -1, False), (STEADY, 1 + LIMIT + 1e-4, 1, True),
    (STEADY[:12], 0.5, -1, False), (STEADY[:13], 0.5, -1, True),  # 14 nights
    ([0.5] * 9 + STEADY, 0.9, -1, True),  # of the last 28
])  # fmt: skip
def test_tonight_from_both_sides_of_its_limit(before, newest, worse, is_found):
    found = nights.tonight(row(*before, newest, worse=worse), 0.02, 1)
    assert (found is not None) == is_found
    if found:
        assert found.kind == 'TONIGHT' and found.after == pytest.approx(100 * newest)
        assert found.before == 100 and found.first == found.found == len(before)


def test_tonight_begins_with_the_bad_nights_in_a_row():
    found = nights.tonight(row(*STEADY, 0.9, 1.0, 0.9, 0.9), 0.02, 1)
    assert (found.first, found.found) == (30, 31) and list(found.nights_after) == [31]


def test_tonight_of_a_new_level_has_seven_nights_of_it_before():
    for since, is_found in (7, False), (8, True):
        one = row(*STEADY, *[0.9] * (since - 1), 0.7)
        one.levels.append(28)
        assert (nights.tonight(one, 0.02, 1) is not None) == is_found


@pytest.mark.parametrize('loss, is_found', [(0.029, False), (0.031, True)])
def test_a_drift_from_both_sides_of_its_limit(loss, is_found):
    values = 100 * np.array([*STEADY, *np.linspace(1, 1 - loss, 60), *[1 - loss] * 28])
    for sign in (1, -1):
        found = nights.drift(100 + sign * (values - 100), 0, 0.02)
        assert (found is not None) == is_found
    if is_found:
        assert found.before == 100 and found.size == pytest.approx(loss)  # of now
        assert (found.found - found.first, len(found.nights_after)) == (27, 28)


def test_a_drift_needs_two_times_28_nights():
    for count, is_found in (27, False), (28, True):
        values = [1.0] * count + [0.9] * 28
        assert (nights.drift(100 * np.array(values), 0, 0.02) is not None) == is_found


def test_a_drift_of_which_half_is_back_is_none():
    for back, is_found in (0.016, True), (0.014, False):
        values = [*STEADY, *[0.95] * 40, *[1 - back] * 28]
        assert (nights.drift(100 * np.array(values), 0, 0.02) is not None) == is_found


@pytest.mark.parametrize('share, is_back', [
    (0.991, True), (0.989, False), (0.97, False), (1.009, True), (1.011, False), (1.03, False),
])  # fmt: skip
def test_a_step_is_undone_by_one_that_leads_within_half_of_its_limit(share, is_back):
    one = row(*STEADY, *[0.8] * 28, *[share] * 7)
    nights.find_steps([one], 0.02)
    assert [step.first for step in one.steps] == ([28] if is_back else [28, 56])
    assert one.steps[0].limit == 0.02 and one.steps[0].back == (56 if is_back else None)


def test_what_would_have_been_found_is_the_limit_and_two_deviations():
    noise = nights.Noise(0.02)
    quiet, wide = row(*STEADY), row(*[1 + 0.02 * (i % 3 - 1) for i in range(42)])
    assert nights.noticed([row(*STEADY[:13])], 0.02, noise) == []
    assert nights.noticed([quiet, wide], 0.02, noise) == pytest.approx([0.04, 4 * 1.4826 * 0.02])
    noise.add(np.arange(20), np.full(20, 0.01))
    assert nights.noticed([quiet], 0.02, noise) == pytest.approx([4 * 1.4826 * 0.01])
    noise.add(np.full(40, 27), np.full(40, 0.03))  # of the newest night, too
    assert nights.noticed([quiet], 0.02, noise) == pytest.approx([4 * 1.4826 * 0.03])


def test_the_noise_of_windows_is_of_those_that_ended_before():
    noise = nights.Noise(0.02)
    assert noise.before(0) == 0.01  # half of the margin, until there are those of 7 nights
    noise.add(np.arange(10, 20), np.array([0.001] * 7 + [0.04] * 3))
    assert [noise.before(n) for n in (16, 17)] == pytest.approx([0.01, 1.4826 * 0.001])
    noise.add(np.arange(10, 30), np.full(20, -0.04))
    found = [noise.before(n) for n in (17, 30)]  # of both
    assert found == pytest.approx([1.4826 * 0.0205, 1.4826 * 0.04])
