"""`membw rank`: from record files to verdicts, node-check file and commands."""

import json
import re

import made_up_records as made
import pytest

from membw import cli
from membw.rank.ranking import rank_files
from membw.rank.slowest_links import slowest_links
from membw.results.hostlist import expected_nodes


@pytest.fixture
def fleet_file(tmp_path):
    return str(made.write(tmp_path / 'first.jsonl', made.fleet(20, slow={7: 0.94})))


def again(path, share, node='n007', **fields):
    rows = made.stream(share=share)
    rows = [made.record(node, day=0.001 * i, rows=rows, **fields) for i in (1, 2, 3)]
    return str(made.write(path / 'again.jsonl', rows))


def rank(capsys, *words):
    status = cli.main(['rank', *map(str, words)])
    return status, capsys.readouterr().out


def test_a_low_node_is_undecided_and_the_command_to_measure_it_again_is_printed(
    fleet_file, capsys
):
    status, text = rank(capsys, fleet_file)
    assert status == 1
    assert 'low once: measure again)' in text
    command = 'membw run --system thin -n stream%pinning=omp -p gcc-o2 --repeat=3 -J nodelist='
    again = re.search(r"measure again: for node in \$\(nodeset -e '(.*)'\); do (.*)\n", text)
    assert again and again[2] == f'{command}$node; done'
    nodes = expected_nodes(again[1])
    assert len(nodes) == 4 and 'n007' in nodes
    assert text.startswith('20 nodes: 19 PASS, 0 FAIL, 0 INVALID, 0 MISSING, 1 UNDECIDED\n')


@pytest.mark.parametrize('share, word, status', [(0.94, 'FAIL', 1), (1.0, 'PASS', 0)])
def test_later_runs_of_the_night_confirm_or_clear_a_low_node(
    fleet_file, tmp_path, capsys, share, word, status
):
    done, text = rank(capsys, fleet_file, again(tmp_path, share))
    assert done == status
    assert f'n007 {word} (' in text
    assert 'measure again' not in text


def test_later_runs_that_are_invalid_neither_clear_it_nor_condemn_it(fleet_file, tmp_path, capsys):
    invalid = again(tmp_path, 0.99, validation={'ok': False})
    assert 'n007 UNDECIDED (' in rank(capsys, fleet_file, invalid)[1]


@pytest.mark.parametrize('day, word', [(0, 'DIED'), (-7, 'PASS')])
def test_a_launch_of_another_test_that_died_counts_in_its_own_measurement_alone(
    tmp_path, day, word
):
    end = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n003'}
    dead = {**made.record('n003', day, case={'test': 'dgemm'}, missing=[end]), 'metrics': {}}
    path = made.write(tmp_path / 'r.jsonl', [*made.fleet(20), dead])
    ranking = rank_files([str(path)])
    assert [n.verdict for n in ranking.nodes if n.name == 'n003'] == [word]


def test_an_expected_node_without_a_record_is_missing_by_name(fleet_file, capsys):
    status, text = rank(capsys, fleet_file, '--nodes', 'n[001-023]')
    assert status == 1
    assert 'n[021-023] MISSING (no record)' in text


def test_a_node_not_measured_for_two_weeks_is_missing_and_no_peer(tmp_path):
    old = made.record('n099', day=0, rows=made.stream(share=0.5))
    file = made.write(tmp_path / 'r.jsonl', [old, *made.fleet(10, days=(20,))])
    ranking = rank_files([str(file)])
    assert ranking.nodes[-1][:3] == ('n099', 'MISSING', 'no record since 2026-05-28')
    assert not ranking.low


def test_the_newest_measurement_counts(tmp_path):
    nights = [*made.fleet(10, slow={3: 0.5}), *made.fleet(10, days=(1,), seed=2)]
    file = made.write(tmp_path / 'r.jsonl', nights)
    assert {n.verdict for n in rank_files([str(file)]).nodes} == {'PASS'}


def test_a_valid_run_counts_before_an_invalid_one_of_the_same_night(tmp_path):
    wrong = made.record('n001', day=-0.01, validation={'ok': False})
    file = made.write(tmp_path / 'r.jsonl', [wrong, *made.fleet(10)])
    assert {n.verdict for n in rank_files([str(file)]).nodes} == {'PASS'}


def test_a_node_with_only_invalid_runs_is_invalid_with_the_reason(tmp_path, capsys):
    wrong = made.record('n099', validation={'ok': False})
    status, text = rank(capsys, made.write(tmp_path / 'r.jsonl', [*made.fleet(10), wrong]))
    assert status == 1
    assert "n099 INVALID (not-validated (the record's verdict contradicts it))" in text


def test_records_by_hand_of_two_presets_fail_no_node(tmp_path, capsys):
    """c00 has another compiler line, is as fast as it gets with that, and was FAIL."""
    native = {**made.BUILD, 'preset': 'gcc-native'}
    fleet = made.fleet(19, case=False, build=native)
    slow = [made.record('c00', i / 100, made.stream(share=0.7), case=False) for i in range(4)]
    status, text = rank(capsys, made.write(tmp_path / 'r.jsonl', [*fleet, *slow]))
    assert ' 0 FAIL' in text and 'c00 UNDECIDED (no other node of its setting' in text


def test_records_of_an_unknown_build_are_compared_with_none_and_it_is_said(tmp_path, capsys):
    fleet = made.fleet(5, slow={3: 0.5}, case=False, build=made.UNKNOWN_BUILD)
    _, text = rank(capsys, made.write(tmp_path / 'r.jsonl', fleet))
    assert ' 0 FAIL' in text
    assert 'n[001-005] UNDECIDED (its build is not known: compared with no other node' in text


def test_a_damaged_line_is_named_and_the_exit_status_is_1(tmp_path, capsys):
    file = made.write(tmp_path / 'r.jsonl', made.fleet(10))
    file.write_text('{"schema": 1}\n' + file.read_text())
    assert cli.main(['rank', str(file)]) == 1
    assert f"{file}:1: not a record: 'schema'" in capsys.readouterr().err


def test_a_list_of_other_nodes_is_a_usage_error(fleet_file, capsys):
    assert cli.main(['rank', fleet_file, '--nodes', 'other[1-3]']) == 2
    said = "no node of 'other[1-3]' is among the 20 in the records"
    assert said in capsys.readouterr().err


def test_a_folder_without_records_is_a_usage_error(tmp_path, capsys):
    assert cli.main(['rank', str(tmp_path)]) == 2
    assert 'no record to rank' in capsys.readouterr().err


def test_the_node_check_file_has_a_line_for_each_node(fleet_file, tmp_path, capsys):
    check = tmp_path / 'nodes.txt'
    rank(capsys, fleet_file, again(tmp_path, 0.94), '--nodes', 'n[001-021]', '--node-check', check)
    lines = check.read_text().splitlines()
    assert len(lines) == 21
    assert lines[0] == 'n001 PASS'
    assert lines[6].startswith('n007 FAIL ')
    assert lines[20] == 'n021 MISSING no record'


def test_drain_commands_are_printed_for_failed_nodes_only(fleet_file, tmp_path, capsys):
    _, text = rank(capsys, fleet_file, again(tmp_path, 0.94), '--drain')
    assert text.startswith("scontrol update NodeName=n007 State=DRAIN Reason='membw: ")
    assert text.count('\n') == 1
    assert rank(capsys, fleet_file, '--drain')[1] == '# no node to drain\n'


def test_the_slowest_come_first_and_each_node_has_one_line(fleet_file, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '66')  # no room for all four kernels
    _, text = rank(capsys, fleet_file, '--limit', '2')
    (head,) = [line for line in text.splitlines() if line.startswith('  node ')]
    assert 'triad' in head and 'add' not in head and len(head) <= 66
    rows = [line.split()[0] for line in text.splitlines() if line.startswith('  n0')]
    assert (rows[0], len(rows)) == ('n007', 2)
    assert '... 18 more' in text


def test_json_has_the_numbers_of_each_verdict(fleet_file, tmp_path, capsys):
    _, text = rank(capsys, fleet_file, again(tmp_path, 0.94), '--json')
    (fail,) = [row for row in json.loads(text)['verdicts'] if row['verdict'] == 'FAIL']
    assert fail['node'] == 'n007'
    assert fail['again'] == pytest.approx(0.06, abs=0.01)


def test_the_slowest_links_are_named():
    def link(node, us):
        return {'node': node, 'reason': None, 'messages': [{'bytes': 4 << 20, 'median_us': us}]}

    records = [
        {'host': 'n1', 'links': [link('n2', 100.0), link('n3', 200.0)]},
        {'host': 'n2', 'links': [link('n1', 100.0), link('n3', 100.0)]},
    ]
    slowest = 'n1 - n3: 4 MiB in 200 us, 2.00 times the median of 3 links'
    assert slowest_links(records, 1) == [slowest]
