"""Low nodes are told from the tails of healthy ones: samples of the tables in docs/judging.md."""

import runpy

import numpy as np
import pytest
from places import ROOT

from membw.statistics import tails

TABLES = runpy.run_path(str(ROOT / 'tests/probes/judging_rank.py'))


def alarms_and_found(table, name, fleets):
    fails, _, _, found, told, _ = TABLES['measure'](TABLES['after'], TABLES[table][name], fleets)
    print(f'\n{name}: any false FAIL {fails:.0f} %, found {found:.0f} %, told {told:.0f} %')
    return fails, found, told


@pytest.mark.parametrize('name, most', [
    ('normal 1 %', 3), ('normal 3 %, n = 20', 5), ('left lognormal .6 %', 5), ('t3, 1 %', 15),
    ('exp. tail of 1 % in 10 %', 20), ('quantised to .3 %', 3), ('quantised to 3 %', 0),
    ('kits 50/50, 3 %', 0),
])  # fmt: skip
def test_healthy_nodes_in_a_tail_are_seldom_taken_for_bad_ones(name, most):
    assert alarms_and_found('CLEAN', name, 40)[0] <= most


@pytest.mark.parametrize('name, most', [
    ('normal 3 %, all common, n = 4', 3), ('normal 3 %, all common, n = 8', 3),
])  # fmt: skip
def test_kernels_that_fall_together_are_one_sign_and_not_four(name, most):
    assert alarms_and_found('HELD_BACK', name, 100)[0] <= most


def test_beside_bad_nodes_healthy_ones_of_a_tail_are_suspect_and_the_bad_ones_fail():
    make = TABLES['HELD_BACK_2']['Gumbel 1 %: 5 at -8 %']
    rates, where = make(np.random.default_rng(13))
    fail, _, suspect = TABLES['after'](rates, np.full(len(rates), 0.996))
    assert set(np.flatnonzero(fail)) == set(where)
    assert suspect.any() and not suspect[where].any()


def test_a_mild_left_tail_hides_no_slow_nodes():
    fails, found, told = alarms_and_found('HELD_BACK', 'gamma(2) 1 %: 5 at -8 %', 20)
    assert fails <= 25 and found >= 80 and told >= 95


@pytest.mark.parametrize('name, least', [
    ('1 at -3 %', 90), ('5 at -5 %', 98), ('20 at -5 %', 99), ('30 at -4 %', 99),
    ('+5 %, and -4 % of 6', 80), ('exp. tail: 3 at -5 %', 85), ('kits 3 %: 3 at -6 %', 90),
    ('2/1/.3/.3 %: add -4 % in 3', 98),
])  # fmt: skip
def test_bad_nodes_are_found_beside_any_noise(name, least):
    assert alarms_and_found('FAULTS', name, 20)[2] >= least


@pytest.mark.parametrize('name, least', [
    ('1 at -3 %', 90), ('5 at -5 %', 98), ('1 %: 5 at -5 %', 90), ('2 %: 5 at -8 %', 60),
    ('kits 3 %: 3 at -6 %', 85), ('8 ranks, 1 %: one -10 %', 95),
])  # fmt: skip
def test_in_normal_noise_they_fail_and_are_not_only_suspect(name, least):
    assert alarms_and_found('FAULTS', name, 20)[1] >= least


def test_figures_without_any_spread_are_judged_with_the_floor():
    column = np.array([1.0] * 50 + [0.9])
    usual, cautious = tails.judge_low(column, np.empty((51, 0)), 0.02)
    assert usual[-1] <= cautious[-1] < 1e-3 and (cautious[:-1] == 1).all()


def test_rounding_is_seen_where_figures_repeat_and_nowhere_else():
    rng = np.random.default_rng(1)
    values = 1 + 0.005 * rng.normal(size=100)
    assert tails.rounding(values) == 0
    assert tails.rounding(np.round(values / 0.003) * 0.003) == pytest.approx(0.003)


@pytest.mark.parametrize('shape', tails.shapes(), ids=lambda s: s.name)
def test_each_shape_has_median_0_and_the_mad_of_normal_noise(shape):
    half = tails.special.ndtr(np.interp([-tails.MAD_TO_SIGMA, 0, tails.MAD_TO_SIGMA],
                                        shape.quantiles, tails.Z))  # fmt: skip
    assert half[1] == pytest.approx(0.5, abs=0.01)
    assert half[2] - half[0] == pytest.approx(0.5, abs=0.01)
