"""`membw diff`: every field that differs is named, and nothing else; exit status as said."""

import copy
import json
import sqlite3

import fleet_generator
import pytest
from with_intervals import with_intervals, with_pair

from membw import tables
from membw.diff.compare import compare
from membw.diff.text import as_blocks
from membw.errors import MembwError
from membw.results.find_one import Result, find

LINE = 'gcc -O2 -fopenmp main.c -o /somewhere/stream'
CASE = {
    'name': 'stream %pinning=omp', 'display_name': 'stream %pinning=omp', 'system': 'local',
    'partition': 'default', 'environ': 'gcc-o2', 'result': 'pass', 'verdict': 'VALID',
    'pinning': 'omp', 'compile_line': LINE, 'compiler': 'gcc 12', 'source_sha256': 's' * 64,
    'binary_sha256': 'b' * 64, 'spack_hash': '', 'commit': 'c1', 'fixture': False,
    'env_vars': {'OMP_NUM_THREADS': 2}, 'executable': '/x/bin/stream',
    'executable_opts': ['-t', '9'], 'uuid': 'aaaaaaaa-1111:0:3', 'record': '/gone/records/n1.json',
    'perfvalues': {'local:default:triad': [50.0, 0, None, None, 'GB/s', 'pass']},
}  # fmt: skip


@pytest.fixture
def result():
    """A function: one result with changes; keys of its record, or of its case."""
    (record,) = fleet_generator.records(fleet_generator.healthy(1, seed=7))

    def make(case=None, **changes):
        found = Result('r', copy.deepcopy(CASE | (case or {})), copy.deepcopy(record))
        for key, value in changes.items():
            place = found.record if key in found.record else found.record['facts']
            place[key] = value
        return found

    return make


def test_the_same_code_in_another_file_is_the_same_build(result):
    """Another Spack store: its hash is in the RPATH and in the compile line, not in the code."""
    case = {'code_sha256': 'e' * 64}
    other = case | {'binary_sha256': 'x', 'spack_hash': 'c9cc'}
    assert compare(result(case=case), result(case=other)).build_differs == []
    other['code_sha256'] = 'f' * 64
    assert 'code_sha256' in compare(result(case=case), result(case=other)).build_differs


def test_the_same_result_does_not_differ(result):
    found = compare(result(), result())
    assert found.equal and not found.different and not found.only_a and not found.only_b
    assert found.same['build']['binary_sha256'] == 'b' * 64


# what is changed in B, the group and field that must be named, whether the results then differ
CHANGES = [
    ({'case': {'compile_line': 'gcc -O3 -fopenmp main.c -o /s/stream', 'binary_sha256': 'x'}},
     'build', 'compile_line', True),
    ({'case': {'compiler': 'gcc 13', 'binary_sha256': 'x'}}, 'build', 'compiler', True),
    ({'case': {'source_sha256': 'x', 'binary_sha256': 'y'}}, 'build', 'source_sha256', True),
    ({'case': {'binary_sha256': 'x'}}, 'build', 'binary_sha256', True),
    ({'case': {'commit': 'c2'}}, 'build', 'commit', False),
    ({'case': {'pinning': 'likwid'}}, 'run', 'pinning', False),
    ({'case': {'env_vars': {'OMP_NUM_THREADS': 4}}}, 'run', 'env_vars', False),
    ({'case': {'run_environment': 'LD_PRELOAD=/x'}}, 'run', 'run_environment', False),
    ({'case': {'executable_opts': ['-t', '8']}}, 'run', 'options', False),
    ({'array_size': 5}, 'run', 'array_size', False),
    ({'microcode': '0x2'}, 'facts', 'microcode', False),
    ({'kernel': '6.9'}, 'facts', 'kernel', False),
    ({'thp': 'never'}, 'facts', 'thp', False),
    ({'mem_total_mib': 7}, 'facts', 'mem_total_mib', False),
    ({'case': {'verdict': 'INVALID'}}, 'validity', 'verdict', True),
]  # fmt: skip


@pytest.mark.parametrize('change, group, name, differs', CHANGES)
def test_what_differs_is_named_and_nothing_else(result, change, group, name, differs):
    found = compare(result(), result(**change))
    named = {(g, n) for side in (found.different, found.only_b) for g in side for n in side[g]}
    assert (group, name) in named
    assert named <= {(group, name), ('build', 'binary_sha256')}
    assert found.equal is not differs


def test_where_the_binary_lies_is_no_difference(result):
    moved = {'compile_line': LINE.replace('somewhere', 'else'), 'executable': '/y/bin/stream'}
    assert not compare(result(), result(case=moved)).different


@pytest.mark.parametrize('b, margin, apart', [
    (51.5, 0.02, ['triad']), (50.9, 0.02, []), (49.1, 0.02, []), (48.5, 0.02, ['triad']),
    (51.5, 0.04, []), (50.1, 0, ['triad']),
])  # fmt: skip
def test_figures_are_apart_beyond_the_margin(result, b, margin, apart):
    other = {'perfvalues': {'local:default:triad': [b, 0, None, None, 'GB/s', 'pass']}}
    found = compare(result(), result(case=other), margin)
    assert found.apart == apart
    assert found.figures['triad'] == (50.0, b, pytest.approx(b / 50 - 1), 'GB/s')


def test_a_figure_of_one_side_is_apart(result):
    other = {'perfvalues': {'local:default:saturation': [2, 0, None, None, 'threads', 'pass']}}
    found = compare(result(), result(case=other))
    assert 'saturation' in found.apart and not found.equal


def test_results_that_say_nothing_of_their_build_are_not_called_the_same(result):
    a, b = (Result('x', record={'kernels': r.record['kernels']}) for r in (result(), result()))
    assert compare(a, b).build_differs == ['unknown']


# --- finding, and the command ------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path, result):
    """A results folder: two records, a report, a database of two sessions."""
    results = tmp_path / 'results'
    for folder in ('records', 'reports', 'jobs/n1', 'builds/' + 'b' * 64):
        (results / folder).mkdir(parents=True)
    record = result().record
    for name, thp in (('n1', 'always'), ('n2', 'never')):
        record['facts']['thp'], record['host'] = thp, name
        (results / f'records/{name}.json').write_text(json.dumps(record) + '\n')
    other = {'uuid': 'aaaaaaaa-1111:0:4', 'pinning': 'none', 'record': '/g/n2.json'}
    cases = [CASE, CASE | other | {'display_name': 'stream %pinning=none'}]
    build = {'fixture': True, 'name': 'stream_binary', 'uuid': 'aaaaaaaa-1111:0:1'}
    session = {'session_info': {'uuid': 'aaaaaaaa-1111'}, 'runs': [{'testcases': [build, *cases]}]}
    (results / 'reports/run.json').write_text(json.dumps(session))
    with sqlite3.connect(results / 'results.db') as base:
        base.execute('CREATE TABLE sessions(uuid TEXT, json_blob TEXT)')
        base.execute('INSERT INTO sessions VALUES (?, ?)', ('aaaaaaaa-1111', json.dumps(session)))
    return results


@pytest.mark.parametrize('text', [
    'aaaaaaaa-1111:0:3', 'aaaaaaaa:0:3', 'n1', 'n1.json', '{}/records/n1.json',
    '{}/reports/run.json#omp gcc-o2', '{}/reports/run.json#0:3',
])  # fmt: skip
def test_a_result_is_found_by_every_name(stored, text):
    found = find(text.format(stored), stored)
    assert found.case['uuid'] == 'aaaaaaaa-1111:0:3'
    assert found.record['host'] == 'n1' and found.record['facts']['thp'] == 'always'


def test_of_a_whole_cluster_the_record_of_the_node_is_taken(stored):
    path = stored / 'records/n1.json'
    other = json.loads(path.read_text()) | {'host': 'n0'}
    path.write_text(json.dumps(other) + '\n' + path.read_text())
    assert find(f'{path}#n1', stored).record['host'] == 'n1'
    assert find('aaaaaaaa:0:3', stored).record['host'] == 'n0'  # the case names no node
    with pytest.raises(MembwError, match='names 2 records'):
        find(str(path), stored)


@pytest.mark.parametrize('text, word', [
    ('nothing', "no result 'nothing'"), ('bbbbbbbb:0:1', 'no measured test case'),
    ('aaaaaaaa:0:1', 'no measured test case'), ('aaaaaaaa', 'names 2 test cases'),
    ('{}/reports/run.json', 'names 2 test cases'), ('{}/results.db', 'no record and no report'),
])  # fmt: skip
def test_what_names_no_single_result_is_refused(stored, text, word):
    with pytest.raises(MembwError, match=word) as caught:
        find(text.format(stored), stored)
    assert caught.value.hint


def test_the_command_names_facts_and_exits_as_promised(call, stored):
    done = call('membw', 'diff', 'n1', 'n2', '--results', stored)
    assert done.returncode == 0, done.stderr  # a fact differs, neither build nor figures
    assert '  thp\n    A  always\n    B  never\n' in done.stdout
    data = json.loads(call('membw', 'diff', 'n1', 'n2', '--results', stored, '--json').stdout)
    assert data['different']['facts']['thp'] == {'a': 'always', 'b': 'never'}
    assert data['verdict'] == 'SAME' and data['same_build'] is True


def test_the_command_exits_1_when_figures_differ_and_2_when_asked_wrongly(call, stored):
    path = stored / 'records/n2.json'
    record = json.loads(path.read_text())
    record['kernels']['copy']['best_mbs'] *= 0.9
    path.write_text(json.dumps(record))
    done = call('membw', 'diff', 'n1', 'n2', '--results', stored)
    assert (
        done.returncode == 1 and 'Verdict: DIFFERENT: apart by more than 2.0%: copy' in done.stdout
    )
    assert call('membw', 'diff', 'n1', 'n2', '--results', stored, '--margin', '11').returncode == 0
    done = call('membw', 'diff', 'n1', 'n7', '--results', stored)
    assert done.returncode == 2 and done.stderr.startswith("membw: no result 'n7'\nhint: ")


@pytest.mark.parametrize('change', [
    {'kernels': {'copy': None}, 'metrics': None}, {'reasons': 'x'}, {'facts': 'x'}, {'build': [1]},
    {'threads_on': [{'thread': 0, 'affinity': 7}]}, {'validation': -1},
])  # fmt: skip
def test_a_damaged_record_is_one_line(result, change):
    damaged = result()
    damaged.record |= change
    with pytest.raises(MembwError, match="'r' is not as in the schema"):
        compare(result(), damaged)


def test_a_file_may_have_any_name(stored, tmp_path):
    file = (stored / 'records/n1.json').rename(tmp_path / 'ä #1?%.json')
    assert find(str(file), stored).record['host'] == 'n1'


@pytest.mark.parametrize('text', ['[' * 100_000, '{"session_info": ' + '[' * 100_000,
                                  '{"host": ' + '9' * 6000 + '}'])  # fmt: skip
def test_a_file_that_python_cannot_take_is_one_line(tmp_path, text):
    (tmp_path / 'x.json').write_text(text)
    with pytest.raises(MembwError, match='is no record and no report: not as in the schema'):
        find(str(tmp_path / 'x.json'), tmp_path)


def test_two_states_of_the_machine_are_named(result):
    figure = {'local:default:triad': [70.0, 0, None, None, 'GB/s', 'pass']}
    near, far = result(), result(case={'perfvalues': figure})
    with_pair(near.record, 28)
    with_pair(far.record, 125, 126)
    text = tables.as_text(as_blocks(near, far, compare(near, far)))
    assert 'the nearest cores are apart by\n    A  28 ns\n    B  125 to 126 ns' in text
    assert 'apart by more than 2.0%: triad, in two states of the machine' in text
    assert not compare(near, near).two_states


def test_figures_within_each_others_intervals_are_shown_and_do_not_differ(result):
    def other(share, half):
        found = result(case={'perfvalues': {}})
        for row in found.record['kernels'].values():
            row['best_mbs'] *= share
        with_intervals(found.record, half)
        return found

    found = compare(other(1, 0.06), other(0.95, 0.03))
    assert found.equal
    text = tables.as_text(as_blocks(result(), result(), found))
    assert '-5.0%  within their intervals' in text and '±' in text
    found = compare(other(1, 0.03), other(0.95, 0.03))
    assert found.apart == ['copy', 'scale', 'add', 'triad']
