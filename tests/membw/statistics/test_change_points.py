"""The parts of the search for change points: noise, outliers, gaps."""

import hard_histories as hard
import numpy as np
import pytest

from membw.statistics import change_points as cp
from membw.statistics import split_bound, splits
from membw.statistics.median_polish import split


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
    assert splits.strongest(gaps[None, :], np.array([0.005]), white)[0] > 6


def test_rows_without_gaps_are_searched_the_short_way_to_the_same_answer(monkeypatch):
    """A year of a large fleet is mostly whole rows: of those the slow way looks at none."""
    rng = np.random.default_rng(3)
    values = rng.normal(0, 0.005, (60, 90))
    values[::7, 40:] -= 0.02
    values[rng.random(values.shape) < 0.1] = np.nan
    values[:20] = np.nan_to_num(values[:20])
    packed, count, _ = cp.pack(values)
    sigma, growth = np.full(60, 0.005), 1 + np.arange(91) / 100
    fast = splits.strongest(packed, sigma, growth)
    sums = splits.Sums(packed, growth)
    slow = np.max([sums.z2(*span).max(axis=1) for span in splits.intervals(90)], axis=0)
    assert fast == pytest.approx(np.sqrt(slow) / sigma)
    looked_at, real = [], splits.Sums.z2

    def spy(sums, left, right, rows=slice(None)):
        looked_at.append(len(sums.sum[rows]))
        return real(sums, left, right, rows)

    monkeypatch.setattr(splits.Sums, 'z2', spy)
    assert splits.strongest(packed[:20], sigma[:20], growth) == pytest.approx(fast[:20])
    assert not looked_at
    splits.strongest(packed, sigma, growth)
    assert sum(looked_at) < 0.2 * 60 * len(splits.intervals(90))  # the ends of the shorter rows


@pytest.mark.parametrize('width', [3, 6, 7, 60, 365])
def test_the_best_split_is_the_first_of_the_largest(width):
    """Of whole numbers many are equally large: the first interval counts, and its first split."""
    rng = np.random.default_rng(width)
    for _ in range(20):
        sums = splits.Sums(np.round(rng.normal(0, 1, (1, width))), 1 + rng.random(width + 1))
        left, right = sorted(rng.integers(0, width + 1, 2))
        every = [
            (z, begin + splits.LEAST + i)
            for low, high in splits.intervals(right - left)
            for begin, end in [(left + low, left + high)]
            for i, z in enumerate(sums.z_of_whole(begin, end, slice(1))[0])
        ]
        strongest, place = max(every, key=lambda pair: pair[0], default=(0, None))
        assert sums.best_split(left, right, 0.0) == (place if strongest > 0 else None)
        assert sums.best_split(left, right, strongest) is None


@pytest.mark.parametrize('gaps', [0, 0.02, 0.4])
@pytest.mark.parametrize('width', [5, 6, 13, 33, 34, 40, 90, 365])
def test_no_split_is_above_the_bound_nor_the_bound_far_above_most_rows(gaps, width):
    rng = np.random.default_rng(width)
    values = rng.normal(0, 1, (splits.CHUNK, width))
    values[rng.random(values.shape) < gaps] = np.nan
    values[::9, width // 2 :] -= 2
    values[::31] -= np.linspace(0, 1000, width)
    packed, count, _ = cp.pack(values)
    packed = packed[np.argsort(-count, kind='stable')].astype(np.float32)
    growth, other = (1 + np.arange(width + 1) / 100) * rng.uniform(0.9, 1.1, (2, width + 1))
    one = np.ones(len(packed))
    z, bound = splits.strongest(packed, one, growth), split_bound.Bound(width, growth)
    most = bound.of(packed)
    assert (most >= z).all() and np.median(most - z) < 2
    clipped, beside = np.clip(packed, -1.5, 1.5), split_bound.Bound(width, other)
    z = splits.strongest(clipped, one, other)
    assert (beside.beside(clipped, packed, growth, most) >= z).all()
    for rows in (slice(0, 0), slice(3), slice(7, 200)):
        assert bound.of(packed[rows]) == pytest.approx(most[rows], rel=1e-4)


@pytest.mark.parametrize('made', [[0], [0, 1]])
def test_what_is_common_to_a_night_is_its_median_within_the_software(made):
    rng = np.random.default_rng(4)
    logs = rng.normal(0, 0.005, (40, 30)) + rng.normal(0, 0.02, 30)
    software = np.tile(np.array(made * 40)[:40, None], 30)
    software[:, :10] = 0
    logs[3, 5], software[3, 5] = np.nan, -1
    logs[4:, 7], software[4:, 7] = np.nan, -1  # too few for a level
    level, majority, rest = split(logs, software)
    assert np.isnan(level[7]) and majority[7] == -1 and (np.delete(majority, 7) == 0).all()
    assert np.nanstd(rest[:, 8:]) < 0.006 and np.isnan(rest[3, 5])
    for number in made:
        assert np.abs(np.nanmedian(rest[software[:, 20] == number], axis=0)).max() < 0.003


def test_a_change_is_as_sure_as_the_view_that_shows_it_best():
    """Far nights led the search here and say 0.003 of it, in place of 8e-18: it was dropped."""
    rows = hard.bad_nights(0.15, 0.3, stay=0.65)(np.random.default_rng(11), (1, 20, 180))[0]
    rows[3, 100:] -= 0.04
    searched = cp.Rows(rows, np.full(20, 180), 4700, 0.001)
    searched.places(3)
    assert searched.p_value(3, slice(0, 100), slice(100, 180)) < 1e-10
