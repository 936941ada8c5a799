"""`membw history` of records with intervals and regimes: weighed, and never averaged."""

import fleet_generator
import numpy as np
import pytest
from with_intervals import with_intervals, with_pair

from membw.history import regimes
from membw.history.changes import judge
from membw.history.series import Collector
from membw.results.intervals import weighted_medians
from membw.results.record import parse_record
from membw.results.regimes import crossed, latencies


def series_of(*runs):
    """Series and Left of runs of one node: (night, share of its rate, half width, pair in ns)."""
    collector = Collector()
    for number, (night, share, half, *pair) in enumerate(runs):
        fleet = fleet_generator.healthy(1, seed=1)
        fleet.rates *= share
        (row,) = fleet_generator.records(fleet)
        row['time'] = f'2026-{1 + night // 28:02}-{1 + night % 28:02}T{number % 24:02}:00:00Z'
        row = with_intervals(row, half) if half else row
        record = parse_record(with_pair(row, *pair) if pair else row, 'made up')
        collector.add(str(number), [record], [])
    return collector.series()


def levels(series):
    usual = series_of((0, 1.0, 0.03))[0][0].rates[-1].item()
    return np.round(series.rates[-1, 0].astype(float) / usual, 3).tolist()


def test_of_two_runs_in_a_night_the_surer_one_counts_and_equal_ones_are_averaged():
    ((one,), _) = series_of((0, 1.0, 0.03), (0, 0.7, 0.2), (1, 1.0, 0.03), (1, 0.9, 0.03))
    assert levels(one) == [1.0, 0.95]
    ((old,), _) = series_of((0, 1.0, None), (0, 0.7, None))
    assert levels(old) == [0.85]


@pytest.mark.parametrize('count', [1, 2, 5, 6])
def test_the_median_of_equal_weights_is_the_usual_one(count):
    values = np.random.default_rng(count).normal(size=(3, count))
    groups, medians = weighted_medians(
        values.ravel(), np.full(values.size, 0.3), np.repeat(np.arange(3), count)
    )
    assert groups.tolist() == [0, 1, 2]
    assert medians == pytest.approx(np.median(values, axis=1))


def test_a_run_that_is_far_less_sure_than_the_others_is_left_out_and_counted():
    ((one,), left) = series_of(*((n, 1.0, 0.03) for n in range(5)), (5, 0.6, 0.4))
    assert len(one.nights) == 5 and left.wide == 1
    ((same,), left) = series_of(*((n, 1.0, 0.2) for n in range(5)))
    assert len(same.nights) == 5 and left.wide == 0


def test_a_time_that_may_be_0_has_no_value_in_its_night_and_the_others_of_its_run_have():
    """Of two figures in us: 2 and 0.1, in some runs with an interval from below 0."""
    collector = Collector()
    (row,) = fleet_generator.records(fleet_generator.healthy(1, seed=1))
    sure, unsure = (0.1, 0.05), (0.5, -0.3)
    runs = (1, sure), (2, sure), (3, sure), (3, unsure), (4, unsure), (4, sure), (5, unsure)
    for hour, (night, (us, low)) in enumerate(runs):
        row['time'] = f'2026-01-{night:02}T{hour:02}:00:00Z'
        row['metrics'] = {
            name: {'value': v, 'unit': 'us', 'better': 'lower', 'low': a, 'high': 2 * v}
            for name, v, a in (('parallel', 2.0, 1.9), ('copyin', us, low))
        }
        record = parse_record(row | {'schema': 'membw-record-2'}, 'made up')
        collector.add(str(hour), [record], [])
    ((one,), left) = collector.series()
    parallel, copyin = one.figures(0)[0].tolist(), one.figures(1)[0].tolist()
    assert parallel == pytest.approx([2.0] * 5) and left.wide == 0
    assert copyin[:4] == pytest.approx([0.1] * 4) and np.isnan(copyin[4])


def test_two_states_of_a_machine_are_two_series_and_no_step():
    night = [(n, (0.66, 28) if n // 7 % 2 else (1.0, 125)) for n in range(56)]
    found, left = series_of(*((n, share, 0.03, ns) for n, (share, ns) in night))
    assert [s.label.split(', ')[-1] for s in found] == [
        'nearest cores 28 ns apart', 'nearest cores 125 ns apart']  # fmt: skip
    assert {tuple(set(levels(s))) for s in found} == {(0.66,), (1.0,)}
    assert judge(found) == [] and left.crossed == 0
    found, left = series_of(
        *((n, share, 0.03, ns) for n, (share, ns) in night), (56, 0.8, 0.03, 28, 125)
    )
    assert left.crossed == 1 and sum(len(s.nights) for s in found) == 56


def test_a_state_that_came_and_went_within_a_run_is_seen():
    (data,) = fleet_generator.records(fleet_generator.healthy(1, seed=1))
    assert not crossed(latencies(with_pair(data, 28, 29, (28, 30))))
    assert crossed(latencies(with_pair(data, 28, 29, (28, 120))))


def test_a_latency_that_rises_once_and_stays_is_a_change_of_the_node():
    noise = np.random.default_rng(1).normal(1, 0.003, 56)
    runs = [
        (n, r * (1.0 if n < 28 else 0.66), 0.03, 28 if n < 28 else 125)
        for n, r in enumerate(noise)
    ]
    ((one,), _) = series_of(*runs)
    assert {c.direction for c in judge([one])} == {'slower'}


def test_runs_of_before_the_pair_was_measured_stay_with_the_usual_state():
    pair, node = np.array([0, 28, 125, 28, 28]), np.zeros(5, dtype=int)
    ((_, slow), (_, fast)) = regimes.parts(node, np.arange(5), pair)
    assert slow.tolist() == [True, True, False, True, True] and fast.sum() == 1
