"""Screen, then confirm: low nodes are measured again, and what stays low is FAIL."""

import re

import made_up_records as made
import numpy as np
import pytest

from membw.rank import units
from membw.rank.judge import judge
from membw.results.hostlist import fold
from membw.results.table import read_table
from membw.statistics.peers import noticed, peers_medians, robust_deviation


def table_of(tmp_path, rows):
    return read_table([str(made.write(tmp_path / 'r.jsonl', rows))])


def figures(tmp_path, rows):
    return table_of(tmp_path, rows).figures


def again(node, share, times=3, **fields):
    return [
        made.record(node, day=0.001 * (i + 1), rows=made.stream(share=share), **fields)
        for i in range(times)
    ]


def low(judged):
    return [node for nodes in judged.low.values() for node in nodes]


def words(verdicts):
    return {v.node: v.verdict for v in verdicts if v.verdict != 'PASS'}


@pytest.mark.parametrize('share, is_low', [(0.9851, False), (0.9849, True)])
def test_low_is_beyond_half_the_margin(tmp_path, share, is_low):
    rows = [made.record(made.name(n)) for n in range(1, 21)]
    rows[2]['metrics'] = made.stream(share=share)
    assert low(judge(figures(tmp_path, rows))) == ['n003'] * is_low


@pytest.mark.parametrize('share, is_too_good', [(1.0999, False), (1.1001, True)])
def test_too_good_is_beyond_a_tenth_and_no_control(tmp_path, share, is_too_good):
    rows = [made.record(made.name(n)) for n in range(1, 21)]
    rows[2]['metrics'] = made.stream(share=share)
    judged = judge(figures(tmp_path, rows))
    assert words(judged.verdicts) == ({'n003': 'UNDECIDED'} if is_too_good else {})
    assert 'n003' not in [n for nodes in judged.controls.values() for n in nodes]


@pytest.mark.parametrize('peers, deviation, loss', [
    (3, 0.005, 0.043),  # 6.965 (Student's t of 1 %, 2 degrees) x 0.5 % x sqrt(1 + 1.57 / 3)
    (3, 0.010, 0.086),
    (19, 0.005, 0.0133),
    (1, 0.005, float('inf')),
])  # fmt: skip
def test_the_smallest_loss_that_peers_tell_from_chance(peers, deviation, loss):
    assert noticed(peers, deviation) == pytest.approx(loss, rel=0.01)


@pytest.mark.parametrize(
    'apart, word, least', [(0.004, 'PASS', 0.076), (0.006, 'UNDECIDED', 0.114)]
)
def test_a_pass_would_have_noticed_the_loss_of_a_channel_of_twelve(tmp_path, apart, word, least):
    rows = [made.record(f'n{i}', rows=made.stream(share=1 + apart * i)) for i in range(4)]
    verdicts = judge(figures(tmp_path, rows)).verdicts
    assert {(v.verdict, round(v.noticed, 3)) for v in verdicts} == {(word, least)}


@pytest.mark.parametrize(
    'shares, word, said',
    [
        ((0.95, 0.96, 0.965), 'FAIL', 'all three -3.5'),
        ((0.95, 0.96, 0.969), 'PASS', 'all three -3.1'),
        ((0.95, 0.95, 0.975), 'PASS', 'all three -2.5'),
        ((0.95, 0.95, 0.96, 0.975), 'FAIL', '3 of 4 -4.0'),
    ],
)
def test_each_of_three_further_measurements_is_beyond_the_margin(tmp_path, shares, word, said):
    """By half a robust deviation: the margin alone cannot tell -2.9 from -3.1 %. Of four one may
    be within it."""
    first = figures(tmp_path, made.fleet(40, noise=0.001, slow={3: 0.95}))
    rows = [
        made.record('n003', day=0.001 * i, rows=made.stream(share=share))
        for i, share in enumerate(shares, 1)
    ]
    (verdict,) = [v for v in judge(first, figures(tmp_path, rows)).verdicts if v.reason]
    assert verdict.verdict == word and said in verdict.reason


@pytest.mark.parametrize('share, word', [(0.947, None), (0.9, 'FAIL')])
def test_in_a_fleet_that_scatters_two_deviations_are_needed(tmp_path, share, word):
    first = figures(tmp_path, made.fleet(200, noise=0.04, slow={3: 0.8}))
    verdicts = judge(first, figures(tmp_path, again('n003', share))).verdicts
    assert words(verdicts).get('n003') == word


@pytest.mark.parametrize('nodes', [5, 20, 100])
def test_a_node_5_percent_slow_is_low_and_fails_when_measured_again(tmp_path, nodes):
    first = figures(tmp_path, made.fleet(nodes, slow={3: 0.95}))
    assert low(judge(first)) == ['n003']
    verdicts = judge(first, figures(tmp_path, again('n003', 0.95))).verdicts
    assert words(verdicts) == {'n003': 'FAIL'}


def test_a_node_slow_in_the_first_measurement_alone_passes(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    assert words(judge(first, figures(tmp_path, again('n003', 1.0))).verdicts) == {}


@pytest.mark.parametrize('times', [0, 1, 2])
def test_a_low_node_that_was_not_measured_three_times_again_is_undecided(tmp_path, times):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    verdicts = judge(
        first, figures(tmp_path, again('n003', 0.95, times)) if times else []
    ).verdicts
    assert words(verdicts) == {'n003': 'UNDECIDED'}


def test_further_measurements_that_are_invalid_do_not_count(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    wrong = figures(tmp_path, again('n003', 0.95, validation={'ok': False}))
    assert words(judge(first, wrong).verdicts) == {'n003': 'UNDECIDED'}


def test_a_further_measurement_without_all_metrics_does_not_count(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.95}))
    rows = again('n003', 0.95)
    del rows[0]['metrics']['copy']
    assert words(judge(first, figures(tmp_path, rows)).verdicts) == {'n003': 'UNDECIDED'}


def test_a_node_that_lacks_a_metric_of_its_peers_is_no_pass(tmp_path):
    rows = made.fleet(20)
    del rows[3]['metrics']['triad'], rows[4]['metrics']['copy']
    verdicts = judge(figures(tmp_path, rows)).verdicts
    assert words(verdicts) == {'n004': 'UNDECIDED', 'n005': 'UNDECIDED'}
    assert [v.reason for v in verdicts if v.node == 'n004'] == ['no triad, which its peers have']


def test_one_slow_kernel_is_found(tmp_path):
    rows = made.fleet(20)
    rows[2]['metrics']['copy']['value'] *= 0.94
    assert low(judge(figures(tmp_path, rows))) == ['n003']


@pytest.mark.parametrize('metric, word', [('copy', {'n003': 'FAIL'}), ('triad', {})])
def test_what_was_low_must_be_low_again(tmp_path, metric, word):
    rows = made.fleet(20)
    rows[2]['metrics']['copy']['value'] *= 0.95
    further = again('n003', 1.0)
    for row in further:
        row['metrics'][metric]['value'] *= 0.95
    assert words(judge(figures(tmp_path, rows), figures(tmp_path, further)).verdicts) == word


def test_a_loss_within_the_margin_is_no_fail(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.975}))
    low = figures(tmp_path, again('n003', 0.975))
    assert words(judge(first, low).verdicts) == {}


def test_the_reason_has_the_numbers_to_recompute_it(tmp_path):
    rows = [made.record(made.name(n), rows=made.stream()) for n in range(1, 65)]
    slow = made.stream(share=0.96) | made.metrics({'triad': 171.0})
    rows[16] = made.record('n017', rows=slow)
    first = figures(tmp_path, rows)
    (verdict,) = [
        v for v in judge(first, figures(tmp_path, again('n017', 0.952))).verdicts if v.reason
    ]
    assert verdict.reason == (
        'triad 171 GB/s, median of its 63 peers 180: -5.00%; measured again three times, compared '
        'with that median: all three -4.80% or worse, limit -3.25%: margin 3% and half '
        'a robust deviation of 0.500%, or two'
    )
    assert verdict.again == pytest.approx(0.048)


def test_of_a_time_more_is_worse(tmp_path):
    rows = [
        made.record(made.name(n), rows=made.metrics({'lat': 90 + 0.1 * (n % 2)}, 'ns', 'lower'))
        for n in range(20)
    ]
    rows[3]['metrics']['lat']['value'] = 99.0
    first = figures(tmp_path, rows)
    assert low(judge(first)) == ['n003']
    (verdict,) = [v for v in judge(first, []).verdicts if v.reason]
    assert 'lat 99 ns, median of its 19 peers 90: +10.00%' in verdict.reason


def bound(node, share, day=0.0, side='lower'):
    rows = made.stream(share=share)
    for row in rows.values():
        row['bound'] = side
    return made.record(node, day=day, rows=rows)


def test_a_bound_that_is_not_low_clears_a_node(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), bound('n099', 0.99)])
    assert low(judge(first)) == []


def test_a_low_bound_is_measured_again_and_never_fails(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), bound('n099', 0.5)])
    assert low(judge(first)) == ['n099']
    more = [bound('n099', 0.5, day=0.001 * i) for i in (1, 2, 3)]
    for runs in (more, [more[0], *again('n099', 0.5)[1:]]):
        assert words(judge(first, figures(tmp_path, runs)).verdicts) == {'n099': 'UNDECIDED'}
    assert words(judge(first, figures(tmp_path, again('n099', 1.0))).verdicts) == {}


def test_a_figure_that_may_be_worse_clears_no_node(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), bound('n099', 1.0, side='upper')])
    assert words(judge(first).verdicts) == {'n099': 'UNDECIDED'}


def test_bounds_do_not_move_the_median_of_the_peers(tmp_path):
    first = figures(tmp_path, [*made.fleet(20), *(bound(f'b{n}', 0.5) for n in range(30))])
    assert set(low(judge(first))) == {f'b{n}' for n in range(30)}


def test_where_all_figures_are_bounds_nothing_passes_silently(tmp_path):
    first = figures(tmp_path, [bound(made.name(n), 1.0) for n in range(5)])
    assert set(words(judge(first, []).verdicts).values()) == {'UNDECIDED'}


def kits(facts, **fields):
    """20 nodes, 8 of them 10 % slower; the slower ones have these facts."""
    slow = made.fleet(8, slow={n: 0.9 for n in range(1, 9)}, seed=2, facts=facts, **fields)
    for row in slow:
        row['host'] = row['host'].replace('n', 's')
    return [*made.fleet(12, **fields), *slow]


SLOWER = [f's00{n}' for n in range(1, 9)]


@pytest.mark.parametrize('share, word', [(None, 'UNDECIDED'), (0.9, 'UNDECIDED'), (1.0, None)])
def test_the_slower_of_two_groups_is_measured_again_and_no_node_of_it_fails(tmp_path, share, word):
    table = table_of(tmp_path, kits({}))
    assert low(judge(table.figures)) == SLOWER
    rows = [] if share is None else [row for node in SLOWER for row in again(node, share)]
    further = figures(tmp_path, rows) if rows else []
    judged = judge(table.figures, further)
    assert words(judged.verdicts) == (dict.fromkeys(SLOWER, word) if word else {})
    assert len({v.reason for v in judged.verdicts if v.verdict == word}) == (word is not None)
    assert re.match(
        r'8 of 20 nodes are slower, their median by (9\.[5-9]|10\.[0-4])%', judged.notes[0]
    )
    assert 'two groups, and no fact says why' in judged.notes[0]


def test_two_groups_that_a_fact_explains_are_judged_each_by_itself(tmp_path):
    table = table_of(tmp_path, kits({'memory_channels': 4}))
    judged = judge(table.figures)
    assert words(judged.verdicts) == {}
    assert "two groups: memory_channels '4', not '8'" in judged.notes[0]


def test_a_fifth_of_the_nodes_is_no_group(tmp_path):
    assert judge(figures(tmp_path, made.fleet(10, slow={3: 0.9, 4: 0.9}))).notes == []


@pytest.mark.parametrize('noise', [0.005, 0.03])
def test_one_group_is_not_taken_for_two(tmp_path, noise):
    for seed in range(20):
        first = figures(tmp_path, made.fleet(12, noise=noise, seed=seed))
        assert judge(first).notes == []


@pytest.mark.parametrize('channels', [7, None])
def test_a_fact_that_the_slow_node_alone_has_is_named_if_it_is_known(tmp_path, channels):
    slow = made.record('n099', rows=made.stream(share=0.87), facts={'memory_channels': channels})
    table = table_of(tmp_path, [*made.fleet(20), slow])
    (verdict,) = [v for v in judge(table.figures).verdicts if v.reason]
    assert verdict.reason.endswith("memory_channels '7', not '8'") == (channels == 7)
    assert channels or 'memory_channels' not in verdict.reason


def test_settings_are_not_compared_with_each_other(tmp_path):
    slower = made.fleet(20, slow={n: 0.7 for n in range(1, 21)}, case={'pinning': 'none'})
    assert low(judge(figures(tmp_path, [*made.fleet(20), *slower]))) == []


def test_a_node_without_peers_is_undecided(tmp_path):
    assert words(judge(figures(tmp_path, [made.record()]), []).verdicts) == {'n1': 'UNDECIDED'}


def test_two_nodes_of_which_one_is_slow_are_not_decided(tmp_path):
    first = figures(tmp_path, [made.record('n1'), made.record('n2', rows=made.stream(share=0.6))])
    verdicts = judge(first, figures(tmp_path, again('n2', 0.6))).verdicts
    assert words(verdicts) == {'n1': 'UNDECIDED', 'n2': 'UNDECIDED'}


@pytest.mark.parametrize('nodes, word', [(3, 'UNDECIDED'), (4, None)])
def test_three_nodes_do_not_clear_one_that_is_low_in_most_runs(tmp_path, nodes, word):
    first = figures(tmp_path, made.fleet(nodes, noise=0, slow={3: 0.95}))
    rows = again('n003', 0.95)[:2] + again('n003', 0.975)[2:]
    verdicts = {v.node: v for v in judge(first, figures(tmp_path, rows)).verdicts}
    assert verdicts['n003'].verdict == (word or 'PASS'), verdicts['n003']


def test_an_invalid_figure_is_neither_ranked_nor_a_peer(tmp_path):
    wrong = [
        made.record(f'x{n}', rows=made.stream(share=0.3), validation={'ok': False})
        for n in range(9)
    ]
    verdicts = judge(figures(tmp_path, [*made.fleet(10), *wrong]), []).verdicts
    assert words(verdicts) == {f'x{n}': 'INVALID' for n in range(9)}


def test_the_median_of_the_peers_is_without_the_node():
    assert peers_medians([1.0, 2.0, 10.0, 4.0]) == [4.0, 4.0, 2.0, 2.0]
    assert peers_medians([1.0, np.nan, 3.0]) == [3.0, 2.0, 1.0]


def test_the_robust_deviation_is_that_of_normal_noise_and_at_least_half_a_percent():
    noise = np.random.default_rng(1).normal(0, 0.02, 10_000).tolist()
    assert robust_deviation(noise) == pytest.approx(0.02, rel=0.03)
    assert robust_deviation([0.0] * 5) == 0.005


# --- what the healthy nodes beside it say ----------------------------------------------------


def beside(share, nodes):
    return [row for node in nodes for row in again(node, share)]


@pytest.mark.parametrize(
    'node, others, word',
    [(0.95, 0.97, {}), (0.93, 0.97, {'n003': 'FAIL'}), (0.99, 1.04, {'n003': 'FAIL'})],
)
def test_a_low_node_is_compared_with_what_the_healthy_ones_beside_it_say(
    tmp_path, node, others, word
):
    """The whole fleet is 3 % slower, or 4 % faster, when n003 is measured again."""
    first = figures(tmp_path, made.fleet(20, slow={3: 0.96}))
    (controls,) = judge(first).controls.values()
    assert len(controls) == 3 and 'n003' not in controls
    rows = again('n003', node) + beside(others, controls)
    verdicts = judge(first, figures(tmp_path, rows)).verdicts
    assert words(verdicts) == word
    (reason,) = [v.reason for v in verdicts if v.reason]
    assert f'compared with {fold(controls)}: ' in reason


def test_a_bound_beside_it_is_no_control(tmp_path):
    """The healthy nodes read 3 % less, and were disturbed: n003 is compared with the first."""
    first = figures(tmp_path, made.fleet(20, slow={3: 0.96}))
    (controls,) = judge(first).controls.values()
    rows = beside(0.97, controls)
    for row in rows:
        for metric in row['metrics'].values():
            metric['bound'] = 'lower'
    verdicts = judge(first, figures(tmp_path, again('n003', 0.95) + rows)).verdicts
    (reason,) = [v.reason for v in verdicts if v.reason]
    assert 'compared with that median: ' in reason and words(verdicts) == {'n003': 'FAIL'}


def test_a_node_that_is_alone_with_its_fleet_s_shift_fails_without_a_control(tmp_path):
    first = figures(tmp_path, made.fleet(20, slow={3: 0.96}))
    verdicts = judge(first, figures(tmp_path, again('n003', 0.95))).verdicts
    assert words(verdicts) == {'n003': 'FAIL'}


# --- a rack is one line ----------------------------------------------------------------------


def racks(slow, share=0.95):
    """4 racks of 16; `slow`: nodes of r02 that are slow."""
    rows = made.fleet(64, slow=dict.fromkeys(range(17, 17 + slow), share))
    for place, row in enumerate(rows):
        row['host'] = f'r{place // 16 + 1:02d}n{place % 16 + 1:02d}'
    return rows


def judged_again(tmp_path, rows, share):
    first = figures(tmp_path, rows)
    nodes = low(judge(first))
    further = figures(tmp_path, [row for node in nodes for row in again(node, share)])
    return nodes, judge(first, further).verdicts


@pytest.mark.parametrize('slow', [12, 16])
def test_a_rack_that_is_slow_as_a_whole_is_one_reason_and_no_fail(tmp_path, slow):
    nodes, verdicts = judged_again(tmp_path, racks(slow), 0.95)
    assert len(nodes) == slow
    assert set(words(verdicts).values()) == {'UNDECIDED'}
    (reason,) = {v.reason for v in verdicts if v.reason}
    assert re.match(rf'r02 is slow as a whole \(by name\): {slow} of its 16 nodes are low', reason)


def test_a_node_of_a_slow_rack_that_is_worse_by_more_than_the_margin_has_its_own_fail(tmp_path):
    rows = racks(16)[:32] + made.fleet(96, seed=2)
    rows[17]['metrics'] = made.stream(share=0.85)
    first = figures(tmp_path, rows)
    further = [r for n in low(judge(first)) for r in again(n, 0.85 if n == 'r02n02' else 0.95)]
    found = words(judge(first, figures(tmp_path, further)).verdicts)
    assert found.pop('r02n02') == 'FAIL' and set(found.values()) == {'UNDECIDED'}


@pytest.mark.parametrize('slow', [5, 11])
def test_a_part_of_a_rack_is_so_many_slow_nodes(tmp_path, slow):
    nodes, verdicts = judged_again(tmp_path, racks(slow), 0.95)
    assert words(verdicts) == dict.fromkeys(nodes, 'FAIL') and len(nodes) == slow


def test_slurm_s_topology_says_which_nodes_share_a_switch(tmp_path, monkeypatch):
    script = tmp_path / 'scontrol'
    leaf = 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-4]'
    root = 'SwitchName=s9 Level=1 LinkSpeed=1 Nodes=n[1-9] Switches=s0'
    script.write_text(f"#!/bin/sh\necho '{leaf}'\necho '{root}'\n")
    script.chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    found = units.units([f'n{i}.site.org' for i in range(1, 8)])
    assert [(u.name, u.how, len(u.nodes)) for u in found] == [
        ('switch s0', "by Slurm's topology", 4),
        ('switch s9', "by Slurm's topology", 7),
    ]
    assert {u.name for u in units.units(['r03c2n07', 'r03c1n01'])} == {'r03', 'r03c2', 'r03c1'}
