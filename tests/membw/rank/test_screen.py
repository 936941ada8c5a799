"""Screen, then confirm: low nodes are measured again, and what stays low is FAIL."""

import re

import made_up_records as made
import numpy as np
import pytest

from membw.rank.screen import judge
from membw.results.table import read_table
from membw.statistics.peers import confirming_limit, peers_medians, robust_deviation


def table_of(tmp_path, rows):
    return read_table([str(made.write(tmp_path / 'r.jsonl', rows))])


def figures(tmp_path, rows):
    return table_of(tmp_path, rows).figures


def again(node, share, times=3, **fields):
    return [
        made.record(node, day=0.001 * (i + 1), rows=made.stream(share=share), **fields)
        for i in range(times)
    ]


def words(verdicts):
    return {v.node: v.verdict for v in verdicts if v.verdict != 'PASS'}


@pytest.mark.parametrize('nodes', [5, 20, 100])
def test_a_node_5_percent_slow_is_low_and_fails_when_measured_again(tmp_path, nodes):
    first = figures(tmp_path, made.fleet(nodes, slow={3: 0.95}))
    assert judge(first).low == ['n003']
    verdicts = judge(first, figures(tmp_path, again('n003', 0.95))).verdicts
    assert words(verdicts) == {'n003': 'FAIL'}


def test_a_node_slow_in_the_first_measurement_alone_passes(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    assert words(judge(first, figures(tmp_path, again('n003', 1.0))).verdicts) == {}


@pytest.mark.parametrize('times', [0, 1, 2])
def test_a_low_node_that_was_not_measured_three_times_again_is_suspect(tmp_path, times):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    verdicts = judge(
        first, figures(tmp_path, again('n003', 0.95, times)) if times else []
    ).verdicts
    assert words(verdicts) == {'n003': 'SUSPECT'}


def test_further_measurements_that_are_invalid_do_not_count(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    wrong = figures(tmp_path, again('n003', 0.95, validation={'ok': False}))
    assert words(judge(first, wrong).verdicts) == {'n003': 'SUSPECT'}


def test_a_further_measurement_without_all_metrics_does_not_count(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    rows = again('n003', 0.95)
    del rows[0]['metrics']['copy']
    assert words(judge(first, figures(tmp_path, rows)).verdicts) == {'n003': 'SUSPECT'}


def test_one_slow_kernel_is_found(tmp_path):
    rows = made.fleet(20)
    rows[2]['metrics']['copy']['value'] *= 0.94
    assert judge(figures(tmp_path, rows)).low == ['n003']


@pytest.mark.parametrize('metric, word', [('copy', {'n003': 'FAIL'}), ('triad', {})])
def test_what_was_low_must_be_low_again(tmp_path, metric, word):
    rows = made.fleet(20)
    rows[2]['metrics']['copy']['value'] *= 0.95
    further = again('n003', 1.0)
    for row in further:
        row['metrics'][metric]['value'] *= 0.95
    assert words(judge(figures(tmp_path, rows), figures(tmp_path, further)).verdicts) == word


def test_a_loss_within_the_margin_is_no_fail(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.96}))
    low = figures(tmp_path, again('n003', 0.96))
    assert words(judge(first, low, margin=0.05).verdicts) == {}


def test_the_reason_has_the_numbers_to_recompute_it(tmp_path):
    rows = [made.record(made.name(n), rows=made.stream()) for n in range(1, 65)]
    slow = made.stream(share=0.96) | made.metrics({'triad': 171.0})
    rows[16] = made.record('n017', rows=slow)
    first = figures(tmp_path, rows)
    (verdict,) = [
        v for v in judge(first, figures(tmp_path, again('n017', 0.952))).verdicts if v.reason
    ]
    limit = confirming_limit(64, 5)
    assert verdict.reason == (
        'triad 171 GB/s, median of its 63 peers 180: -5.0%; margin 3%, limit '
        f'{limit:.1f} robust deviations of 0.50%; measured again three times: -4.8%'
    )
    assert verdict.again == pytest.approx(0.048)


def test_of_a_time_more_is_worse(tmp_path):
    rows = [
        made.record(made.name(n), rows=made.metrics({'lat': 90 + 0.1 * (n % 2)}, 'ns', 'lower'))
        for n in range(20)
    ]
    rows[3]['metrics']['lat']['value'] = 99.0
    first = figures(tmp_path, rows)
    assert judge(first).low == ['n003']
    (verdict,) = [v for v in judge(first, []).verdicts if v.reason]
    assert 'lat 99 ns, median of its 19 peers 90: +10.0%' in verdict.reason


def bound(node, share, day=0.0):
    rows = made.stream(share=share)
    for row in rows.values():
        row['bound'] = 'lower'
    return made.record(node, day=day, rows=rows)


def test_a_bound_that_is_not_low_clears_a_node(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), bound('n099', 0.99)])
    assert judge(first).low == []


def test_a_low_bound_is_measured_again_and_never_fails(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), bound('n099', 0.5)])
    assert judge(first).low == ['n099']
    more = [bound('n099', 0.5, day=0.001 * i) for i in (1, 2, 3)]
    assert words(judge(first, figures(tmp_path, more)).verdicts) == {'n099': 'SUSPECT'}
    assert words(judge(first, figures(tmp_path, again('n099', 1.0))).verdicts) == {}


def test_bounds_do_not_move_the_median_of_the_peers(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), *(bound(f'b{n}', 0.5) for n in range(30))])
    assert set(judge(first).low) == {f'b{n}' for n in range(30)}


def test_where_all_figures_are_bounds_nothing_passes_silently(tmp_path):
    first = figures(tmp_path, [bound(made.name(n), 1.0) for n in range(5)])
    assert set(words(judge(first, []).verdicts).values()) == {'SUSPECT'}


def kits(facts, **fields):
    """20 nodes, 8 of them 10 % slower; the slower ones have these facts."""
    slow = made.fleet(8, slow={n: 0.9 for n in range(1, 9)}, seed=2, facts=facts, **fields)
    for row in slow:
        row['host'] = row['host'].replace('n', 's')
    return [*made.fleet(12, **fields), *slow]


SLOWER = [f's00{n}' for n in range(1, 9)]


def test_two_groups_without_a_reason_are_suspect(tmp_path):
    table = table_of(tmp_path, kits({}))
    judged = judge(table.figures, provenance=table.provenance)
    assert words(judged.verdicts) == dict.fromkeys(SLOWER, 'SUSPECT')
    assert judged.low == []
    assert re.match(
        r'8 of 20 nodes are slower, their median by (9\.[5-9]|10\.[0-4])%', judged.notes[0]
    )
    assert 'two groups, and no fact or reference says why' in judged.notes[0]


def test_two_groups_that_a_fact_explains_are_judged_each_by_itself(tmp_path):
    table = table_of(tmp_path, kits({'memory_channels': 4}))
    judged = judge(table.figures, provenance=table.provenance)
    assert words(judged.verdicts) == {}
    assert "two groups: memory_channels '4', not '8'" in judged.notes[0]


def test_a_reference_says_which_of_two_groups_is_right(tmp_path):
    held = {'references': {'triad': [made.TRIAD, -0.05, 0.1]}}
    table = table_of(tmp_path, kits({}, case=held))
    judged = judge(table.figures, provenance=table.provenance)
    assert judged.low == SLOWER


@pytest.mark.parametrize('noise', [0.005, 0.03])
def test_one_group_is_not_taken_for_two(tmp_path, noise):
    for seed in range(20):
        first = figures(tmp_path, made.fleet(12, noise=noise, seed=seed))
        assert judge(first).notes == []


@pytest.mark.parametrize(
    'channels, said',
    [(7, "memory_channels '7', not '8'"), ({'x': 1}, "memory_channels '{'x': 1}', not '8'")],
)
def test_a_fact_that_the_slow_node_alone_has_is_named(tmp_path, channels, said):
    slow = made.record('n099', rows=made.stream(share=0.87), facts={'memory_channels': channels})
    table = table_of(tmp_path, [*made.fleet(20), slow])
    (verdict,) = [v for v in judge(table.figures, (), 0.03, table.provenance).verdicts if v.reason]
    assert verdict.reason.endswith(said)


def test_settings_are_not_compared_with_each_other(tmp_path):
    slower = made.fleet(20, slow={n: 0.7 for n in range(1, 21)}, case={'pinning': 'none'})
    assert judge(figures(tmp_path, [*made.fleet(20), *slower])).low == []


def test_a_node_without_peers_is_suspect(tmp_path):
    assert words(judge(figures(tmp_path, [made.record()]), []).verdicts) == {'n1': 'SUSPECT'}


def test_two_nodes_of_which_one_is_slow_are_not_decided(tmp_path):
    first = figures(tmp_path, [made.record('n1'), made.record('n2', rows=made.stream(share=0.6))])
    verdicts = judge(first, figures(tmp_path, again('n2', 0.6))).verdicts
    assert words(verdicts) == {'n2': 'SUSPECT'}


def test_an_invalid_figure_is_neither_ranked_nor_a_peer(tmp_path):
    wrong = [
        made.record(f'x{n}', rows=made.stream(share=0.3), validation={'ok': False})
        for n in range(9)
    ]
    verdicts = judge(figures(tmp_path, [*made.fleet(10), *wrong]), []).verdicts
    assert words(verdicts) == {f'x{n}': 'INVALID' for n in range(9)}


def test_the_median_of_the_peers_is_without_the_node():
    values = np.array([1.0, 2.0, 10.0, 4.0])
    assert peers_medians(values).tolist() == [4.0, 4.0, 2.0, 2.0]
    assert peers_medians(np.array([1.0, np.nan, 3.0])).tolist() == [3.0, 2.0, 1.0]


def test_the_robust_deviation_is_that_of_normal_noise_and_at_least_half_a_percent():
    noise = np.random.default_rng(1).normal(0, 0.02, (10_000, 1))
    assert robust_deviation(noise) == pytest.approx(0.02, rel=0.03)
    assert robust_deviation(np.zeros((5, 1))) == 0.005
