"""The parts of the search for change points: noise, outliers, gaps."""

import numpy as np
import pytest

from membw.statistics import change_points as cp


def test_the_noise_is_not_inflated_by_a_step_a_drift_or_outliers():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.005, (200, 200))
    values[:, 100:] -= np.linspace(0, 0.1, 100)
    values[:, 50] = -0.5
    values[:, 20] = np.nan
    sigma, _ = cp.noise(*cp.pack(values)[:2])
    assert np.median(sigma) == pytest.approx(0.005, rel=0.1)


def test_the_filter_takes_two_bad_nights_of_five_and_leaves_a_step():
    clean = np.random.default_rng(2).normal(0, 0.01, (1, 40))
    spoilt = clean.copy()
    spoilt[0, [0, 10, 12, 38, 39]] -= 1
    sigma = np.array([0.01])
    count = np.array([40])
    assert np.abs(cp.without_outliers(spoilt, count, sigma) - clean).max() < 0.08
    stepped = clean.copy()
    stepped[0, 37:] -= 1
    assert np.abs(cp.without_outliers(stepped, count, sigma) - stepped).max() < 0.08


def test_gaps_do_not_move_a_change():
    values = np.random.default_rng(3).normal(0, 0.005, 60)
    values[40:] -= 0.05
    gaps, white = values.copy(), np.ones(61)
    gaps[[3, 38, 39, 45]] = np.nan
    assert cp.segment(values, 0.005, 6, white) == [40]
    assert cp.segment(gaps[~np.isnan(gaps)], 0.005, 6, white) == [37]
    assert cp.strongest(gaps[None, :], np.array([0.005]), white)[0] > 6
