"""`membw rank`: from record files to verdicts, node-check file and commands."""

import json
import os
import re

import made_up_records as made
import pytest

from membw.results.hostlist import expected_nodes
from membw.site import slurm

DEAD = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n003'}
WRONG = {'validation': {'ok': False}}
REFERENCE = {'references': {'triad': [180.0, -0.08, 0.1]}}
THREE = {'references': {
    'copy': [169.0, -0.03, 0.1], 'scale': [167.0, None, 0.1], 'triad': [180.0, -0.08, 0.1]
}}  # fmt: skip
LATENCIES = {
    name: {'value': 150.0, 'unit': 'ns', 'better': 'lower'} for name in ('ns_0_0', 'ns_1_0')
}
TWICE = {'references': {'ns_1_0': [150.0, None, 1.0]}}
NATIVE = {**made.BUILD, 'preset': 'gcc-native'}
SLOW = made.fleet(20, slow={7: 0.94})


@pytest.fixture
def fleet_file(tmp_path):
    return str(made.write(tmp_path / 'first.jsonl', SLOW))


def again(path, share, **fields):
    return str(made.write(path / 'again.jsonl', further(share, **fields)))


def further(share, node='n007', **fields):
    return [made.record(node, 0.001 * i, made.stream(share=share), **fields) for i in (1, 2, 3)]


@pytest.fixture
def rank(membw):
    return lambda *words: membw('rank', *words)[:2]


def test_a_low_node_is_undecided_and_the_command_to_measure_it_again_is_printed(fleet_file, rank):
    status, text = rank(fleet_file)
    assert status == 1 and 'low once: measure again)' in text
    command = 'membw run --system thin -n stream%pinning=omp -p gcc-o2 --repeat=3 -J nodelist='
    again = re.search(r"measure again: for node in \$\(nodeset -e '(.*)'\); do (.*)\n", text)
    assert again and again[2] == f'{command}$node; done'
    nodes = expected_nodes(again[1])
    assert len(nodes) == 4 and 'n007' in nodes
    assert text.startswith('20 nodes: 19 PASS, 1 UNDECIDED\n')


def lost(day):
    return {**made.record('n003', day, case={'test': 'dgemm'}, missing=[DEAD]), 'metrics': {}}


# records, options, exit status, what is printed
RANKED = {
    'confirmed': ([*SLOW, *further(0.94)], [], 1, 'n007 FAIL ('),
    'cleared': ([*SLOW, *further(1.0)], [], 0, 'n007 PASS ('),
    'low, then invalid': ([*SLOW, *further(0.99, **WRONG)], [], 1, 'n007 INVALID ('),
    'dead in this measurement': ([*made.fleet(20), lost(0)], [], 1, 'n003 DIED'),
    'dead in an older one': ([*made.fleet(20), lost(-7)], [], 0, '20 PASS'),
    'expected': (SLOW, ['--expected', 'n[001-023]'], 1, 'n[021-023] MISSING (no record)'),
    'two weeks ago, and no peer': (
        [made.record('n099', 0, made.stream(share=0.5)), *made.fleet(10, days=(20,))], [], 1,
        'n099 MISSING (no record since 2026-05-28)'),
    'one test of two, five days ago': (
        [*made.fleet(10, case={'test': 'dgemm'}), *made.fleet(10, days=(5,)),
         *made.fleet(10, days=(5,), case={'test': 'dgemm'})[1:]], [], 1,
        'n001 MISSING (no record of dgemm gcc-o2 since 2026-05-28)'),
    'the newest counts': (
        [*made.fleet(10, slow={3: 0.5}), *made.fleet(10, days=(1,), seed=2)], [], 0, '10 PASS'),
    'a valid run counts before an invalid one': (
        [made.record('n001', day=-0.01, **WRONG), *made.fleet(10)], [], 0, '10 PASS'),
    'the same, by its reference': (
        [made.record('n001', -0.01, made.stream(share=1.02), case=REFERENCE, **WRONG),
         made.record('n001', case=REFERENCE)], [], 0, 'n001 PASS (within its reference'),
    'by the widest of those that it meets': (
        [made.record('n001', case=THREE)], [], 0, 'reference, which lets a loss of 8.0% pass'),
    'by one that lets it be twice as slow': (
        [made.record('n001', rows=LATENCIES, headline='ns_0_0', case=TWICE)], [], 0,
        'reference, which lets a loss of 100.0% pass'),
    'low once, within its reference': (
        [*made.fleet(6), made.record('n007', 0, made.stream(share=0.95), case=REFERENCE)], [], 1,
        'n007 UNDECIDED (scale 159.03 GB/s, median of its 6 peers'),
    'invalid runs only': ([*made.fleet(10), made.record('n099', **WRONG)], [], 1,
                          "n099 INVALID (not-validated (the record's verdict contradicts it))"),
    # c00 has another compiler line, is as fast as it gets with that, and was FAIL
    'by hand, of two presets': (
        [*made.fleet(19, case=False, build=NATIVE), *(
            made.record('c00', i / 100, made.stream(share=0.7), case=False) for i in range(4))],
        [], 0, 'c00 VALID (nothing to compare with'),
    'of an unknown build': (
        made.fleet(5, slow={3: 0.5}, case=False, build=made.UNKNOWN_BUILD), [], 0,
        'n[001-005] VALID (its build is not known: compared with no other node'),
    'none to drain': (SLOW, ['--drain'], 1, '# no node to drain\n'),
}  # fmt: skip


@pytest.mark.parametrize('records, words, status, said', RANKED.values(), ids=RANKED)
def test_what_is_said_of_a_node(tmp_path, rank, records, words, status, said):
    done, text = rank(made.write(tmp_path / 'r.jsonl', records), *words)
    assert (done, said in text) == (status, True), text
    assert '--drain' in words or (' FAIL' in text.partition('\n')[0]) == ('FAIL (' in said)
    assert 'n007' not in said or ('measure again' in text) == (
        'D (' in said and 'DIED' not in said
    )


@pytest.mark.parametrize('share', [0.8, 1.0])
@pytest.mark.parametrize('fields, said', [
    ({'build': {**made.BUILD, 'compiler': 'gcc 13'}}, "compiler 'gcc 13', not 'gcc 12.2.0'"),
    ({'element_bytes': 4}, "element bytes '4', not '8'"), ({'ntimes': 20}, "'20', not '10'"),
    ({'case': {'partition': 'p2'}}, ''),  # which is another row, and requested
    ({'facts': {'cpu_model': 'Another'}}, ''), ({'version': '9'}, ''),
])  # fmt: skip
def test_a_fleet_of_two_settings_says_how_far_apart_they_are(tmp_path, rank, share, fields, said):
    """Half of a fleet was upgraded and 20 % slower: 20 PASS, and not a word."""
    rows = made.fleet(11) + [r for r in made.fleet(20, slow=dict.fromkeys(range(12, 21), share),
                                                   **fields) if r['host'] > 'n011']  # fmt: skip
    notes = [line for line in rank(made.write(tmp_path / 'r.jsonl', rows))[1].splitlines()
             if 'compared with each other alone' in line]  # fmt: skip
    assert len(notes) == bool(said)
    change = round(100 * (share - 1))
    for note in notes:
        assert said in note and note.startswith('note: n[012-020] (') and ' of 11 nodes' in note
        assert abs(float(re.search(r'triad ([-+.\d]+)%', note)[1]) - change) < 0.5


@pytest.mark.parametrize('apart', [True, False])
def test_what_since_leaves_out_is_said(tmp_path, membw, apart):
    """A node whose peers were older was VALID, and FAIL with them."""
    rows = [*made.fleet(8), made.record('n009', 0.5)]
    for n, row in enumerate(rows):
        made.write(tmp_path / f'{n if apart else 0}.jsonl', [row] if apart else rows)
    old = made.START - 3 * made.DAY
    os.utime(tmp_path / '0.jsonl', (old, old) if apart else None)
    for words in (('rank',), ('why', 'n009'), ('export',)):
        _, out, err = membw(*words, tmp_path, '--since', made.when(0.4)[:-1] + '+00:00')
        said = [line for line in (out + err).splitlines() if 'older than --since' in line]
        first = 'n002, n003, n004, n005, n006, and 2 more' if apart else 'n001, n002, n003, n004,'
        assert first in ' '.join(said)
        assert ('0.jsonl: left out' in ' '.join(said)) == apart


def test_what_cannot_be_ranked_is_named(fleet_file, tmp_path, membw):
    file = made.write(tmp_path / 'r.jsonl', made.fleet(10))
    file.write_text('{"schema": 1}\n' + file.read_text())
    (tmp_path / 'empty').mkdir()
    for words, status, said in (
        ([file], 1, f"{file}:1: not a record: 'schema'"),
        ([fleet_file, '--expected', 'other[1-3]'], 2,
         "no node of 'other[1-3]' is among the 20 in the records"),
        ([tmp_path / 'empty'], 2, 'no record to rank'),
    ):  # fmt: skip
        done, _, err = membw('rank', *words)
        assert done == status and said in err


@pytest.mark.parametrize('nights, changes, begins', [
    (8, {'case': {'partition': 'new'}}, r"n\[001-004\] BEGAN .*; partition 'new', before 'node'$"),
    (8, {'threads': 4}, r"n\[001-004\] BEGAN .*; threads '4', before '8'$"),
    (8, None, 'n001 ENDED .*$'),
    (6, {'threads': 4}, ''),  # of fewer than 7 nights nothing is said
])  # fmt: skip
def test_a_series_that_ended_or_began_is_a_line_of_history(
    tmp_path, membw, nights, changes, begins
):
    rows = made.fleet(4, days=range(nights))
    later = made.fleet(4, days=range(nights, nights + 10), **(changes or {}))
    rows += [row for row in later if changes or row['host'] != 'n001']
    file = made.write(tmp_path / 'r.jsonl', rows)
    said = [line[6:] for line in membw('rank', file)[1].splitlines() if line[:6] == 'note: ']
    assert {*said} <= {*membw('history', file)[1].splitlines()}
    assert bool(said) == bool(begins) and all(re.search(begins, line) for line in said)


def test_the_node_check_file_has_a_line_for_each_node(fleet_file, tmp_path, rank):
    check = tmp_path / 'nodes.txt'
    rank(fleet_file, again(tmp_path, 0.94), '--expected', 'n[001-021]', '--node-check', check)
    lines = check.read_text().splitlines()
    assert (len(lines), lines[0], lines[20]) == (21, 'n001 PASS', 'n021 MISSING no record')
    assert lines[6].startswith('n007 FAIL ')


def test_drain_commands_are_printed_for_failed_nodes_only(fleet_file, tmp_path, rank):
    _, text = rank(fleet_file, again(tmp_path, 0.94), '--drain')
    assert text.startswith("scontrol update NodeName=n007 State=DRAIN Reason='membw: ")
    assert text.count('\n') == 1


# cluster of the record, scheduler of its case; the cluster to which scontrol speaks here
DRAINS = [
    ('', None, 'doduo', 'scontrol update NodeName=n007 '),  # by hand
    ('', 'local', 'doduo', 'scontrol update NodeName=n007 '),
    ('doduo', 'slurm', 'doduo', 'scontrol update NodeName=n007.site '),  # Slurm named it so
    ('doduo', None, 'joltik', 'scontrol -M doduo update NodeName=n007.site '),
    ('doduo', 'squeue', '', 'scontrol -M doduo update NodeName=n007.site '),  # no Slurm here
    ('doduo', 'flux', 'doduo', 'scontrol update NodeName=n007.site '),  # Flux within Slurm
    *(('', name, 'doduo', '# n007.site was measured without Slurm: ')
      for name in ('pbs', 'torque', 'lsf', 'sge', 'flux', 'oar')),
]  # fmt: skip


@pytest.mark.parametrize('cluster, scheduler, here, begins', DRAINS)
def test_a_drain_command_speaks_to_the_cluster_of_the_node(
    tmp_path, rank, monkeypatch, cluster, scheduler, here, begins
):
    monkeypatch.setattr(slurm, 'cluster_here', lambda: here)
    case = {'scheduler': scheduler} if scheduler else {}
    rows = [made.record(f'n{i:03}.site', case=case) | {'cluster': cluster} for i in range(5, 10)]
    rows[2]['missing'] = [{'what': '', 'why': 'ended by SIGBUS', 'died': True, 'node': ''}]
    _, text = rank(made.write(tmp_path / 'r.jsonl', rows), '--drain')
    assert text.startswith(begins) and text.count('\n') == 1


def test_the_slowest_come_first_and_each_node_has_one_line(fleet_file, rank, monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    _, text = rank(fleet_file, '--limit', '2')
    (head,) = [line for line in text.splitlines() if line.startswith('  node ')]
    assert 'triad' in head and 'add' in head and len(head) <= 80
    rows = [line.split()[0] for line in text.splitlines() if line.startswith('  n0')]
    assert (rows[0], len(rows)) == ('n007', 2)
    assert '... 18 more' in text


def test_json_has_the_numbers_of_each_verdict(fleet_file, tmp_path, rank):
    _, text = rank(fleet_file, again(tmp_path, 0.94), '--json')
    (fail,) = [row for row in json.loads(text)['verdicts'] if row['verdict'] == 'FAIL']
    assert fail['node'] == 'n007'
    assert fail['again'] == pytest.approx(0.06, abs=0.01)
