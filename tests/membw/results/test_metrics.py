"""A latency, of which less is better, through all that reads records; and a fifth kernel."""

import json

import fleet_generator
import latency_fleet
import pytest
from results_store import case, write_report

from membw.cli import main
from membw.results.metrics import Metric, of_record
from membw.results.record import BadRecord, parse_record
from membw.run import summary

SLOW, FAST = 'n00004', 'n00008'
NODES = 12


def shares(slow=1.05, fast=0.95, nodes=NODES):
    """Of the usual latency: one node 5 % slower, one 5 % faster."""
    return [slow if i == 3 else fast if i == 7 else 1.0 for i in range(nodes)]


@pytest.fixture
def night(tmp_path):
    return fleet_generator.write(latency_fleet.records(shares()), tmp_path / 'night.jsonl')


def test_rank_names_the_node_with_the_longer_latency_and_not_the_one_with_the_shorter(
    night, capsys
):
    assert main(['rank', str(night)]) == 1
    text = capsys.readouterr().out
    failed = [line for line in text.splitlines() if ' FAIL ' in line]
    assert [line.split()[0] for line in failed] == [SLOW]
    assert 'verdict (ns, slowest first)' in text and 'latency +' in failed[0]
    assert 'LATENCY_MEDIAN' in text and ' ns on ' in text and 'AVG_per_proc' not in text
    assert main(['rank', str(night), '--json']) == 1
    data = json.loads(capsys.readouterr().out)
    (group,) = data['groups']
    latency = group['metrics']['latency']
    assert (latency['unit'], latency['better']) == ('ns', 'lower')
    assert latency['median'] == pytest.approx(latency_fleet.USUAL_NS, rel=0.01)
    by_name = {node['node']: node for node in data['nodes']}
    assert by_name[SLOW]['figures']['latency'] == pytest.approx(94.5, rel=0.02)
    assert by_name[SLOW]['ratio']['latency'] < 0.97 < 1.03 < by_name[FAST]['ratio']['latency']


def test_history_says_that_a_longer_latency_got_worse_and_a_shorter_one_did_not(tmp_path, capsys):
    rows = []
    for run in range(24):
        changed = shares() if run >= 12 else [1.0] * NODES
        rows += latency_fleet.records(changed, run)
    file = fleet_generator.write(rows, tmp_path / 'nights.jsonl')
    assert main(['history', str(file), '--json', '--series']) == 1
    data = json.loads(capsys.readouterr().out)
    changes = {change['node']: change for change in data['changes']}
    assert set(changes) == {SLOW, FAST} and data['worse'] == 1
    slow, fast = changes[SLOW], changes[FAST]
    assert (slow['direction'], fast['direction']) == ('slower', 'faster')
    assert slow['percent'] == pytest.approx(5, abs=1) and fast['percent'] == pytest.approx(
        -5, abs=1
    )
    assert slow['unit'] == 'ns' and slow['before'] < 92 < 93 < slow['after']
    (series,) = data['series']
    assert (series['unit'], series['better']) == ('ns', 'lower')
    assert series['low'][0] < series['median'][0] < series['high'][0]


def test_report_and_summary_show_a_latency_in_its_unit(tmp_path, capsys):
    results = tmp_path / 'results'
    for name in ('reports', 'records'):
        (results / name).mkdir(parents=True)
    cases = []
    for node, row in enumerate(latency_fleet.records(shares())):
        file = results / 'records' / f'{node}.json'
        file.write_text(json.dumps(row) + '\n')
        figure = row['metrics']['latency']['value']
        values = {'synthetic:node:latency': [figure, 90.0, -0.04, 0.025, 'ns', 'pass']}
        one = case(row['host'], 1.8e9, [1, 1, 1, 1], perfvalues=values, record=str(file))
        cases.append(one | {'name': 'chase %pinning=omp', 'pinning': 'omp', 'peak_gbs': 0.0,
                            'display_name': 'chase %pinning=omp', 'unique_name': f'chase_{node}',
                            'hashcode': 'h'})  # fmt: skip
    slow = cases[3]
    slow |= {'result': 'fail', 'fail_phase': 'performance', 'fail_reason': 'latency=94.5'}
    write_report(results / 'reports' / 'run.json', cases)
    assert summary.show(str(results / 'reports' / 'run.json')) == 1
    text = capsys.readouterr().out
    assert 'chase on synthetic:node, ns' in text and 'Latency' in text
    assert sum(' FAIL ' in line for line in text.splitlines()) == 1
    page = tmp_path / 'page.html'
    assert main(['report', str(results), '-o', str(page)]) == 0
    html = page.read_text()
    start = html.index('What needs attention')
    attention = html[start : html.index('</ul>', start)]
    assert f'>{SLOW}</a>' in attention and FAST not in attention
    assert 'Latency, ns' in html and '>Triad' not in html


def test_a_record_of_mb_per_s_is_one_of_gb_per_s():
    new = {'metrics': {'copy': {'value': 250000, 'unit': 'MB/s', 'better': 'higher'}}}
    assert of_record(new) == of_record({'kernels': {'copy': {'best_mbs': 250000}}})
    assert of_record(new) == ({'copy': 250.0}, (Metric('copy'),))


@pytest.mark.parametrize('row', [
    {'value': 0, 'unit': 'ns', 'better': 'lower'},
    {'value': 1, 'unit': 'ns', 'better': 'smaller'},
    {'value': 1, 'better': 'lower'},
])  # fmt: skip
def test_a_metric_that_says_nothing_is_no_record(row):
    with pytest.raises(BadRecord):
        parse_record({'schema': 'membw-record-2', 'host': 'n1', 'metrics': {'x': row}}, 'f')


def fifth(rows):
    """The records of a program with one kernel more: `update`, as fast as Copy."""
    for row in rows:
        row['kernels'] = {**row['kernels'], 'update': row['kernels']['copy']}
    return rows


def test_a_fifth_kernel_is_ranked_and_reported_without_an_edit(tmp_path, capsys):
    fleet = fleet_generator.healthy(8, 1)
    file = fleet_generator.write(fifth(fleet_generator.records(fleet)), tmp_path / 'five.jsonl')
    assert main(['rank', str(file), '--by', 'update']) == 0
    assert 'Copy Scale Add Triad Update' in ' '.join(capsys.readouterr().out.split())
    page = tmp_path / 'page.html'
    assert main(['report', str(file), '-o', str(page)]) == 0
    assert '>Update<' in page.read_text()


def test_ranks_add_up_in_gb_per_s_and_are_averaged_in_ns(tmp_path, capsys):
    rows = latency_fleet.records([1.0, 1.0])
    for rank, row in enumerate(rows):
        row |= {'host': 'n1', 'rank': rank, 'ranks': 2}
        row['metrics']['copy'] = {'value': 10.0, 'unit': 'GB/s', 'better': 'higher'}
    file = fleet_generator.write(rows, tmp_path / 'two.jsonl')
    assert main(['rank', str(file), '--json']) == 1, 'a node alone is not compared: SUSPECT'
    (node,) = json.loads(capsys.readouterr().out)['nodes']
    assert node['figures']['copy'] == pytest.approx(20)
    assert node['figures']['latency'] == pytest.approx(90, rel=0.01)


def test_a_check_may_name_its_metrics_where_the_record_is_gone(tmp_path, capsys):
    values = {'synthetic:node:latency': [90.0, None, None, None, 'ns', 'pass'],
              'synthetic:node:points': [12, None, None, None, '1', 'pass']}  # fmt: skip
    named = {'latency': {'unit': 'ns', 'better': 'lower'}}
    cases = [case(f'n{i}', 1.8e9, [1, 1, 1, 1], perfvalues=values, metrics=named) for i in (1, 2)]
    write_report(tmp_path / 'run.json', cases)
    assert main(['rank', str(tmp_path / 'run.json'), '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['nodes'][0]['figures'] == {'latency': pytest.approx(90)}
