"""The page of ReFrame's report has the rows, the counts and the verdict of the terminal."""

import made_up_records as made_up
import pytest
from made_run import MadeRun, metric

from membw.cli import main
from membw.report.page import page_of
from membw.report.run import run_of_report
from membw.summary.command import read, show


@pytest.fixture
def made(tmp_path):
    run = MadeRun(tmp_path)
    run.add({'triad': metric(41.0, 40.5, 41.5)}, round=1)
    run.add({'triad': metric(42.5, 42.0, 43.0)}, round=2)
    run.add({'triad': metric(90.0)}, preset='gcc-o3', reasons=['fits-in-cache (1 MiB)'])
    return run.build('icx', result='fail', why='icx: not found').failed_with('icx')


def test_verdict_and_counts_are_those_of_the_terminal(made, capsys):
    path = made.write()
    page = page_of(run_of_report(path))
    assert show(read(path)) == 1
    text = capsys.readouterr().out
    counts = '1 PASS, 1 MISSING, 1 INVALID, 1 build failed'
    assert f'Verdict: INVALID: {counts}' in text and page.counts == f'rows: {counts}'


def test_rounds_are_one_row_and_a_failed_build_is_named(made):
    page = page_of(run_of_report(made.write()))
    assert page.headline.startswith('Triad 42.5 ±')
    assert [(a.verdict, a.what) for a in page.attention] == [
        ('INVALID', 'stream gcc-o3 omp'),
        ('MISSING', 'stream icx omp'),
    ]
    assert 'icx: not found' in page.attention[1].why
    table = page.sections[0].tables[0]
    assert [line[0] for line in table.texts()[1:]] == ['gcc-o2', 'gcc-o3', 'icx']


def test_a_bad_row_of_another_benchmark_does_not_make_the_headline_wrong(tmp_path):
    run = MadeRun(tmp_path).add({'triad': metric(30.3, 25.9, 34.7)})
    run.add({'unloaded_ns': metric(90.0)}, test='loaded', reasons=['generators-stopped (1)'])
    page = page_of(run_of_report(run.write()))
    assert page.headline.startswith('Triad 30.3') and page.verdict == 'PASS'
    assert [a.verdict for a in page.attention] == ['INVALID']


def test_a_run_without_a_figure_has_a_page(tmp_path):
    run = MadeRun(tmp_path).build('icx', result='fail', why='no').failed_with('icx')
    page = page_of(run_of_report(run.write()))
    assert page.headline == 'No valid figure' and page.verdict == 'MISSING'


def test_each_node_of_a_whole_cluster_is_in_the_table(tmp_path):
    run = MadeRun(tmp_path)
    file = tmp_path / 'records' / 'cluster.jsonl'
    made_up.write(file, made_up.fleet(5, case={'test': 'cluster_stream'}))
    values = {'local:default:triad': [180.0, 0, None, None, 'GB/s', 'pass']}
    run.add(test='cluster_stream', node_check='nodecheck.txt', perfvalues=values)
    run.cases[-1]['record'] = str(file)
    page = page_of(run_of_report(run.write()))
    assert page.counts == 'rows: 1 PASS' and 'median of 5 nodes' in page.headline
    assert page.sections[0].id == 'nodes'


def test_the_command_takes_a_report(made, tmp_path, capsys):
    assert main(['report', made.write(), '-o', str(tmp_path / 'r.html')]) == 0
    assert 'Triad 42.5 ±1.5 GB/s PASS; rows: 1 PASS' in capsys.readouterr().out


def test_the_page_says_who_disturbed_the_run(tmp_path):
    busy = {'wall_s': 2.0, 'other_share': 0.5, 'processes': [{'name': 'cc1', 'cpu_s': 3.0}]}
    run = MadeRun(tmp_path).add({'triad': metric(37.2, bound=True)}, record={'busy': busy})
    lines = ' '.join(page_of(run_of_report(run.write())).standing)
    assert 'Other processes used 50% of the CPUs' in lines and 'cc1 1.5' in lines
