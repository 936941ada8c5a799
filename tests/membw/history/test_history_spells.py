"""`membw history`: a fall that was taken back is one event, and so is a noisy time of a fleet."""

import hard_histories as hard
import history_generator as gen
import numpy as np
import pytest

from membw import tables
from membw.history.changes import judge
from membw.history.command import _is_told
from membw.history.search import steadied
from membw.history.series import Left, as_day
from membw.history.text import as_blocks, is_worse, merged
from membw.statistics.step_or_drift import moves

NODE = 3


def down(series, begin, end, share=0.05, node=NODE):
    series.rates[:, node, begin:end] *= 1 - share


def events(series):
    return merged(judge([series]))


@pytest.mark.parametrize('end', [68, 90])
def test_a_fall_and_its_return_are_one_event_with_both_dates(end):
    series = gen.healthy(12, 110, 1)
    down(series, 60, end)
    (event,) = events(series)
    assert (event[0].direction, event[0].recovered) == ('slower', True)
    assert (event[0].night, event[0].back) == (series.night(60), series.night(end))
    text = tables.as_text(as_blocks([series], judge([series]), Left(), 0))
    assert f'back since {series.night(end)}' in text and 'nothing got worse' in text


def test_a_fall_after_a_return_is_an_alarm_and_the_first_one_is_over():
    series = gen.healthy(12, 120, 2)
    down(series, 50, 60)
    down(series, 100, 120)
    first, second = events(series)
    assert first[0].back == series.night(60) and not any(map(is_worse, first))
    assert second[0].night == series.night(100) and all(map(is_worse, second))


def test_what_came_back_in_part_is_still_an_alarm():
    series = gen.healthy(12, 110, 3)
    down(series, 50, 80, 0.10)
    down(series, 80, 110, 0.05)
    found = judge([series])
    falls = [c for c in found if c.direction == 'slower']
    assert falls and all(is_worse(c) and not c.back for c in falls)
    assert any(c.direction == 'faster' for c in found)


def test_a_node_that_came_back_and_became_faster_than_it_was_is_no_alarm():
    series = gen.healthy(12, 120, 4)
    down(series, 50, 70)
    down(series, 95, 120, -0.06)
    assert not any(map(is_worse, judge([series])))


@pytest.mark.parametrize('nights, red', [(8, False), (40, True)])
def test_the_end_of_a_gain_is_an_alarm_where_the_gain_had_become_usual(nights, red):
    series = gen.healthy(12, 130, 5)
    down(series, 60, 60 + nights, -0.05)
    found = judge([series])
    assert any(map(is_worse, found)) is red
    assert len(merged(found)) == 1 + red


def test_a_return_that_came_with_other_software_is_told_with_its_reason():
    series = gen.healthy(12, 110, 6)
    gen.update(series, slice(None), 50, compiler='gcc 13.1.0')
    gen.update(series, slice(None), 80, compiler='gcc 14.1.0')
    series.rates[:, :, 50:80] *= 0.95
    told = [(e[0].field, e[0].direction) for e in events(series)]
    assert told == [('compiler', 'slower'), ('compiler', 'faster')]


def test_a_fall_that_is_over_is_told_while_its_return_is_new():
    series = gen.healthy(12, 110, 7)
    down(series, 50, 80)
    found = judge([series])
    assert found and all(_is_told(c, series.night(80)) for c in found)
    assert not any(_is_told(c, series.night(90)) for c in found)


def test_two_weeks_in_which_all_nodes_are_noisier_are_one_event_of_the_fleet():
    for seed in range(2):
        series = hard.history(hard.restless_weeks(5), seed)
        (event,) = events(series)
        first = event[0]
        assert (first.scope, first.shape, first.nodes) == ('fleet', 'scatter', hard.NODES)
        assert abs(as_day(first.night) - series.nights[90]) <= 2
        assert abs(as_day(first.back) - series.nights[104]) <= 2
        assert first.recovered and not is_worse(first)
        assert first.scatter[1] > 3 * first.scatter[0]


def test_a_fleet_that_stays_noisier_is_an_alarm():
    series = hard.history(hard.restless_weeks(4, 5), 1, nights=70)
    worse = [e for e in events(series) if any(map(is_worse, e))]
    assert [(e[0].scope, e[0].direction) for e in worse] == [('fleet', 'noisier')]


def test_a_fall_in_noisy_weeks_that_stays_is_found():
    for seed in range(2):
        series = hard.history(hard.restless_weeks(5), seed, nights=180)
        gen.step(series, NODE, 95, 0.04)
        worse = [c for c in judge([series]) if is_worse(c)]
        assert {c.node for c in worse} == {series.nodes[NODE]}


def test_a_rack_that_falls_in_one_night_is_no_noisier_fleet():
    series = hard.history(hard.normal(0.005), 3, nights=110)
    gen.step(series, slice(0, 9), 80, 0.05)
    assert not any(c.shape == 'scatter' for c in judge([series]))


def test_a_night_that_is_noisy_for_all_is_drawn_to_the_level_of_its_side_of_a_change():
    row = np.where(np.arange(180) < 100, 0.0, -0.1)[None] + 0.001
    times = np.where((np.arange(180) >= 100) & (np.arange(180) < 105), 3.0, 1.0)
    drawn = steadied(row, np.arange(180)[None], times)
    assert drawn[0, 98:107] == pytest.approx(row[0, 98:107])


def test_bad_nights_behind_a_fall_make_no_drift_of_it():
    rng = np.random.default_rng(1)
    row = np.where(np.arange(180) < 100, 0.0, -0.037) + rng.normal(0, 0.004, 180)
    row[140:160] -= 0.08 * rng.random(20)
    (move,) = moves(row, row, [100], 0.02, reach=0.065, sigma=0.004)
    assert (move.shape, move.first) == ('step', 100)
