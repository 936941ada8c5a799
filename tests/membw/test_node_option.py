"""`--node` means the same in every command that reads records: these nodes only."""

import re

import made_up_records as made
import pytest
from made_run import MadeRun, metric

from membw import cli

COMMANDS = {
    'rank': ['rank', '--limit', '0'],
    'history': ['history', '--since', '2026-05-01'],
    'export': ['export', '--format', 'csv'],
    'calibrate': ['calibrate', '--system', 'thin', '--dry-run'],
    'report': ['report', '-o', '/dev/stdout'],
}


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    days = [*range(16)]
    rows = made.fleet(3, days, seed=2)
    return str(made.write(tmp_path_factory.mktemp('node') / 'all.jsonl', rows))


@pytest.mark.parametrize('command', COMMANDS)
def test_only_the_chosen_nodes_are_spoken_of(file, command, capsys):
    name, *words = COMMANDS[command]
    status = cli.main([name, file, *words, '--node', 'n[002-003]'])
    said = capsys.readouterr().out
    assert status in (0, 1, 2) and said
    assert not re.search(r'^ *(n001|.*,n001,)', said, re.M)  # a line of a median may name it
    if command in ('rank', 'export'):
        assert 'n002' in said and 'n003' in said
    if command == 'calibrate':
        assert '2 nodes (fewer than 20)' in said


@pytest.mark.parametrize('command', COMMANDS)
def test_a_name_that_is_not_there_is_refused(file, command, capsys):
    name, *words = COMMANDS[command]
    assert cli.main([name, file, *words, '--node', 'n099']) == 2
    assert "no node 'n099' in the results" in capsys.readouterr().err


def test_summary_prints_the_rows_of_these_nodes_only(tmp_path, capsys):
    run = MadeRun(tmp_path).add({'triad': metric(40.0)})
    path = run.add({'triad': metric(41.0)}, preset='gcc-o3', record={'host': 'n2'}).write()
    assert cli.main(['summary', path, '--node', 'n2']) == 0
    said = capsys.readouterr().out
    assert 'gcc-o3' in said and 'gcc-o2' not in said and 'PASS: 1 PASS' in said
    assert cli.main(['summary', path, '--node', 'n9']) == 2
    assert "no node 'n9' in the results" in capsys.readouterr().err
