"""Nothing is PASS that was not compared: slow racks, lost pinning, silence, wrong clocks."""

import json
import warnings
from datetime import UTC, datetime, timedelta

import fleet_generator as gen
import numpy as np
import pytest
import results_store

from membw.cli import main
from membw.rank.fleet import Rule, judge
from membw.rank.text import as_blocks
from membw.results.record import parse_record
from membw.tables import as_text

TONIGHT = datetime(2026, 11, 21, 13, tzinfo=UTC)


def rows_of(nodes=20, seed=7, **options):
    return gen.records(gen.healthy(nodes, seed, **options))


def scaled(row, factor, **changes):
    row = json.loads(json.dumps(row)) | changes
    for kernel in row['kernels'].values():
        kernel['best_mbs'] *= factor
    for metric in row.get('metrics', {}).values():
        metric['value'] *= factor
    return row


def verdicts(rows, file='all.jsonl', **options):
    records = [parse_record(row, file) for row in rows]
    return judge(records, now=TONIGHT.timestamp(), **options)


def of(result, word):
    return {node.name for node in result.nodes if node.verdict == word}


def test_runs_that_differ_in_a_parameter_of_the_check_are_not_compared(tmp_path, capsys):
    """A passive team takes ten times an active one's time: no node is slow for that."""
    cases = [
        results_store.case(
            f'n{node:02d}', TONIGHT.timestamp(), [share * (100 + node / 20)] * 4,
            name=f'overheads %pinning=likwid %wait_policy={policy}',
        )
        for node in range(12) for policy, share in (('active', 1.0), ('passive', 0.1))
    ]  # fmt: skip
    results_store.write_report(tmp_path / 'run.json', cases)
    assert main(['rank', '--json', '--max-age=0', str(tmp_path / 'run.json')]) == 0
    told = json.loads(capsys.readouterr().out)
    medians = [group['metrics']['triad']['median'] for group in told['groups']]
    assert len(medians) == 2 and max(medians) == pytest.approx(10 * min(medians))
    assert sorted(group['nodes'] for group in told['groups']) == [12, 12]
    assert sum('%wait_policy=passive' in group['label'] for group in told['groups']) == 1


def test_records_of_other_work_or_waiting_are_not_compared():
    """The same without ReFrame, which would have named the parameter."""
    for fields in ({'runtime': {'wait_policy': 'passive'}}, {'precision': 'double'}):
        rows = rows_of(12)
        rows += [scaled(row, 0.5, **fields) for row in rows_of(12, seed=8)]
        for row in rows[12:]:
            row['time'] = (TONIGHT - timedelta(hours=1)).isoformat()
        found = verdicts(rows)
        assert [len(group.nodes) for group in found.groups] == [12, 12]
        assert of(found, 'PASS') == {node.name for node in found.nodes}


def rank(tmp_path, rows, *arguments):
    return main(['rank', str(gen.write(rows, tmp_path / 'fleet.jsonl')), *arguments])


def test_a_node_list_that_is_not_there_is_no_missing_node(tmp_path, capsys):
    assert rank(tmp_path, rows_of(), '--nodes', 'nodes.txtt') == 2
    assert "no node of 'nodes.txtt' is among the 20 in the records" in capsys.readouterr().err


@pytest.mark.parametrize('nodes', [20, 100])
@pytest.mark.parametrize('loss', [0.04, 0.125, 0.5])
@pytest.mark.parametrize('share', [0.05, 0.19, 0.2, 0.35, 0.5, 0.6])
def test_a_slow_rack_is_never_pass(nodes, loss, share):
    slow = max(1, round(nodes * share))
    for seed in range(2):
        fleet = gen.healthy(nodes, seed)
        gen.slow(fleet, range(slow), loss)
        result = verdicts(gen.records(fleet))
        assert {gen.name(n) for n in range(slow)} <= of(result, 'FAIL') | of(result, 'SUSPECT')


@pytest.mark.parametrize('field, value, meant', [
    ('microcode', '0x2', True), ('mem_total_mib', 2**17, True), ('governor', 'powersave', False),
])  # fmt: skip
def test_a_slower_part_is_excused_by_kit_or_firmware_and_by_no_setting(field, value, meant):
    fleet = gen.healthy(40, 3)
    gen.slow(fleet, range(12), 0.05)
    fleet.facts = {n: {field: value} for n in range(12)}
    result = verdicts(gen.records(fleet))
    assert len(of(result, 'SUSPECT')) == (0 if meant else 12)
    assert not of(result, 'FAIL')
    if not meant:
        assert 'governor powersave, not performance' in result.nodes[0].reason


def test_populations_that_somebody_says_are_meant_pass(tmp_path, capsys):
    fleet = gen.healthy(40, 3)
    gen.slow(fleet, range(12), 0.05)
    rows = gen.records(fleet)
    assert rank(tmp_path, rows) == 1
    assert '40 nodes: 28 PASS, 0 FAIL, 0 INVALID, 0 MISSING, 12 SUSPECT' in capsys.readouterr().out
    assert rank(tmp_path, rows, '--populations') == 0


@pytest.mark.parametrize('nodes, slow', [(2, 1), (4, 2), (6, 3), (5, 3), (10, 5)])
def test_which_half_of_a_few_nodes_is_right_cannot_be_told_and_is_said(nodes, slow):
    fleet = gen.healthy(nodes, 1)
    gen.slow(fleet, range(slow), 0.5)
    result = verdicts(gen.records(fleet))
    assert {gen.name(n) for n in range(slow)} <= of(result, 'FAIL') | of(result, 'SUSPECT')
    assert any('cannot tell which' in node.reason for node in result.nodes)


@pytest.mark.parametrize('nodes', [2, 3, 4, 6, 10])
@pytest.mark.parametrize('noise', [0.005, 0.03])
def test_a_few_healthy_nodes_are_seldom_suspected(nodes, noise):
    fleets = [verdicts(gen.records(gen.healthy(nodes, s, noise=noise))) for s in range(60)]
    suspects = sum(bool(of(result, 'SUSPECT')) for result in fleets)
    print(f'\n{nodes} nodes at {noise:.1%}: suspected in {suspects} of 60 fleets')
    assert suspects <= 3


def lost_pinning(row):
    row['threads_on'] = [{'thread': 0, 'cpu': 0, 'affinity': '0-15', 'moved': False}]


def other_compiler(row):
    row['build']['compiler'] = 'gcc 13.1.0'


def other_cpu(row):
    row['facts']['cpu_model'] = 'Synthetic 7000'


def no_copy(row):
    for key in ('kernels', 'metrics'):
        row.get(key, {}).pop('copy', None)


@pytest.mark.parametrize('change', [lost_pinning, other_compiler, other_cpu, no_copy])
@pytest.mark.parametrize('count', [1, 2])
def test_a_node_alone_in_its_group_or_with_few_is_not_pass(change, count):
    rows = rows_of(40)
    for n in range(count):
        rows[n] = scaled(rows[n], 1 / 3)
        change(rows[n])
    result = verdicts(rows)
    alone = count == 1 or change is not other_cpu  # two of another CPU are compared
    assert of(result, 'SUSPECT') == ({gen.name(n) for n in range(count)} if alone else set())


def test_kernels_in_another_order_are_the_same_kernels():
    rows = rows_of(40)
    for key in ('kernels', 'metrics'):
        if key in rows[4]:
            rows[4][key] = dict(reversed(rows[4][key].items()))
    rows[4] = scaled(rows[4], 0.5)
    assert of(verdicts(rows), 'FAIL') == {gen.name(4)}


def test_flags_that_differ_on_each_node_compare_nothing_and_nothing_passes():
    rows = rows_of(8)
    for n, row in enumerate(rows):
        row['build']['flags'] = f'-O3 -I/tmp/build-{n}'
    assert len(of(verdicts(rows), 'SUSPECT')) == 8


def test_a_node_that_was_compared_the_same_night_may_have_run_something_else_besides():
    rows = rows_of(20)
    extra = scaled(rows[3], 0.9)
    extra['build']['flags'] = '-O0'
    result = verdicts([*rows, extra])
    assert len(of(result, 'PASS')) == 20 and not of(result, 'SUSPECT')


@pytest.mark.parametrize('losers', [1, 12, 20])
def test_a_rank_lost_is_missing_on_however_many_nodes(losers):
    rows = rows_of(20, ranks=4)
    rows = [row for row in rows if not (row['rank'] % 4 == 2 and row['rank'] // 4 < losers)]
    result = verdicts(rows)
    assert of(result, 'MISSING') == {gen.name(n) for n in range(losers)}
    assert '1 of 4 ranks did not report' in result.nodes[0].reason


def test_ranks_of_a_node_that_is_not_there_at_all_are_told():
    rows = [row for row in rows_of(20, ranks=4) if row['host'] != gen.name(5)]
    result = verdicts(rows)
    assert result.problems == ['4 of 80 ranks of the run of 2026-11-21 have no record']


def test_a_node_silent_since_may_is_missing(tmp_path, capsys):
    rows = [row | {'rank': 0, 'ranks': 1} for row in rows_of(20)]
    rows[19]['time'] = '2026-05-01T02:00:00Z'
    assert rank(tmp_path, rows, '--nodes', 'n[00001-00020]') == 1
    assert 'n00020  MISSING no record since 2026-05-01, 204 days' in capsys.readouterr().out
    assert rank(tmp_path, rows, '--max-age', '0') == 0


def test_a_record_from_the_future_hides_nothing():
    rows = rows_of(20)
    later = scaled(rows[3], 1, time=(TONIGHT + timedelta(days=200)).isoformat())
    rows[3] = scaled(rows[3], 0.5)
    result = verdicts([*rows, later])
    assert of(result, 'FAIL') == {gen.name(3)}
    assert 'n00004: a record of 2027-06-09, later than today, is left out' in result.problems


def test_a_fleet_whose_own_clock_is_ahead_of_ours_is_judged():
    rows = [scaled(row, 1, time='2031-01-01T00:00:00Z') for row in rows_of(20)]
    assert len(of(verdicts(rows), 'PASS')) == 20


def test_two_clusters_with_the_same_names_are_told():
    one, other = rows_of(10), [scaled(row, 0.5) for row in rows_of(10, seed=8)]
    records = [parse_record(row, 'one.jsonl') for row in one]
    records += [parse_record(row, 'other.jsonl') for row in other]
    result = judge(records, now=TONIGHT.timestamp())
    assert '10 of 10 nodes have two results more than 10% apart' in result.problems[0]


@pytest.mark.parametrize('minutes, told', [(10, True), (1440, False)])
def test_two_clusters_in_one_file_are_told_by_how_soon_their_results_follow(minutes, told):
    """A day later it is the same fleet, and slower: `membw history` says since when."""
    later = (TONIGHT - timedelta(minutes=minutes)).isoformat()
    rows = [scaled(row, 0.5, time=later) for row in rows_of(10)]
    rows += [scaled(row, 1, time=TONIGHT.isoformat()) for row in rows_of(10, seed=8)]
    result = judge([parse_record(row, 'one.jsonl') for row in rows], now=TONIGHT.timestamp())
    assert bool(result.problems) == told


def test_a_second_night_in_another_file_is_no_second_cluster():
    one = rows_of(10)
    other = [scaled(row, 0.99, time='2026-11-20T13:00:00Z') for row in rows_of(10, seed=8)]
    records = [parse_record(row, 'one.jsonl') for row in one]
    records += [parse_record(row, 'other.jsonl') for row in other]
    assert not judge(records, now=TONIGHT.timestamp()).problems


@pytest.mark.parametrize('factor', [1.5, 1e299])
def test_an_implausibly_fast_node_is_suspect(factor):
    rows = rows_of(20)
    rows[3] = scaled(rows[3], factor)
    result = verdicts(rows)
    assert of(result, 'SUSPECT') == {gen.name(3)}
    assert 'implausibly fast' in result.nodes[3].reason
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        as_text(as_blocks(result, 'slowest', 'triad', 0))


def test_a_node_at_a_twentieth_never_passes_however_far_its_peers_lie_apart():
    rows = [scaled(row, f) for row, f in zip(rows_of(4), (1, 0.7, 0.05, 0.5), strict=True)]
    result = verdicts(rows)
    assert of(result, 'SUSPECT') == {gen.name(2)} and not of(result, 'FAIL')
    assert 'implausibly slow: -9' in result.nodes[2].reason
    rows = [scaled(row, f) for row, f in zip(rows_of(4), (1, 0.7, 0.35, 0.5), strict=True)]
    assert len(of(verdicts(rows), 'PASS')) == 4, 'not sure, and no wonder'


def test_a_node_that_is_5_percent_faster_is_fine():
    rows = rows_of(20)
    rows[3] = scaled(rows[3], 1.05)
    assert len(of(verdicts(rows), 'PASS')) == 20


def test_the_rule_asks_for_no_age_where_no_record_has_a_time():
    rows = rows_of(20)
    for row in rows:
        row['time'] = None
    records = [parse_record(row, 'all.jsonl') for row in rows]
    assert len(of(judge(records, rule=Rule()), 'PASS')) == 20


def test_steadiness_is_compared_with_how_steady_the_fleet_is():
    fleet = gen.healthy(100, 5)
    rng = np.random.default_rng(5)
    fleet.hiccups = 0.02 * np.exp(0.8 * rng.normal(size=100))
    assert not of(verdicts(gen.records(fleet)), 'FAIL')


def all_together(seed):
    """Eight nodes that differ by 3 %, all kernels alike."""
    fleet = gen.healthy(8, seed, noise=1e-6)
    fleet.rates *= 1 + 0.03 * np.random.default_rng(seed).normal(size=(8, 1, 1))
    return fleet


def test_what_a_few_nodes_show_of_their_noise_is_no_proof_and_is_said_so():
    results = [verdicts(gen.records(all_together(seed))) for seed in range(60)]
    suspects = [n for result in results for n in result.nodes if n.verdict == 'SUSPECT']
    reasons = {n.reason.split('; ')[-1] for n in suspects}
    assert not any(of(result, 'FAIL') for result in results)
    assert 'of 8 nodes the noise is hardly known: measure again, ask `membw history`' in reasons
    assert all('%, z=' in n.reason for n in suspects), 'how far is said as well'


def test_one_node_of_eight_that_is_5_percent_low_is_sure_enough():
    fleet = gen.healthy(8, 4)
    gen.slow(fleet, [2], 0.05)
    result = verdicts(gen.records(fleet))
    assert of(result, 'FAIL') == {gen.name(2)} and len(of(result, 'PASS')) == 7
