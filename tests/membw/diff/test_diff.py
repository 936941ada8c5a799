"""`membw diff`: every field that differs is named, and nothing else; exit status as promised."""

import json

import made_up_records as made_up
import pytest

from membw.diff.command import compare
from membw.errors import MembwError
from membw.results.archive import Result, find


def result(**changes):
    """A result of stream; `changes` are those of made_up_records.record."""
    return Result('r', made_up.record(**changes))


def triad(value, half=None):
    return made_up.metrics({'triad': value}, half=half)


UNKNOWN = {'case': False, 'build': made_up.UNKNOWN_BUILD}
BY_HAND = {'case': False}
SAME = 'SAME: the same code, no figure apart; up to 2.0% could not be told apart'


@pytest.mark.parametrize('a, b, verdict', [
    ({}, {'day': 1}, SAME),
    (BY_HAND, BY_HAND, SAME),
    ({}, BY_HAND, SAME),
    (BY_HAND, UNKNOWN, 'UNDECIDED: the code is not known'),
    (UNKNOWN, UNKNOWN, 'UNDECIDED: the code is not known'),
    (BY_HAND, {**BY_HAND, 'build': {**made_up.BUILD, 'code_sha256': 'd' * 64}},
     'DIFFERENT: the code'),
])  # fmt: skip
def test_two_records_are_the_same_only_where_the_code_of_both_is_known(a, b, verdict):
    found = compare(result(**a), result(**b), 0.02)
    assert found.verdict == verdict and found.is_same == (verdict == SAME)
    assert 'day' not in b or not found.fields


def test_of_wide_intervals_it_says_what_could_not_be_told_apart():
    """-8.7 % was "no figure apart by more than 2.0%"."""
    of_a, of_b = triad(43.2, half=0.15), triad(39.5, half=0.20)
    found = compare(result(rows=of_a), result(rows=of_b), 0.02)
    (row,) = found.blocks[3].values()
    assert found.is_same and row['least'] == pytest.approx(0.20) and row['word'] == ''
    assert found.blocks[-1].endswith('up to 20.0% could not be told apart')
    assert found.blocks[3].texts()[1][2:4] == ['43.2 (36.72-49.68)', '39.5 (31.6-47.4)']


@pytest.mark.parametrize('change, field, is_equal', [
    ({'case': {'compile_line': 'gcc -O3', 'code_sha256': 'x'}}, 'compile_line', False),
    ({'case': {'compiler': 'gcc 13', 'code_sha256': 'x'}}, 'compiler', False),
    ({'case': {'source_sha256': 'x', 'code_sha256': 'y'}}, 'source_sha256', False),
    ({'case': {'binary_sha256': 'x', 'spack_hash': 'y'}}, 'spack_hash', True),
    ({'case': {'commit': 'x'}}, 'commit', True), ({'case': {'pinning': 'x'}}, 'pinning', True),
    ({'case': {'verdict': 'INVALID'}}, 'verdict', False), ({'array_size': 5}, 'array_size', True),
    ({'facts': {'microcode': '0x2'}}, 'microcode', True), ({'facts': {'thp': 'x'}}, 'thp', True),
])  # fmt: skip
def test_a_field_that_differs_is_named_with_both_values(change, field, is_equal):
    found = compare(result(), result(**change), 0.02)
    names = [name for name, _, _ in found.fields]
    assert field in names and set(names) <= {field, 'code_sha256', 'binary_sha256'}
    assert found.is_same is is_equal


@pytest.mark.parametrize(
    'value, margin, is_apart',
    [(51.5, 0.02, True), (50.9, 0.02, False), (48.5, 0.02, True), (51.5, 0.04, False)],
)
def test_figures_are_apart_beyond_the_margin(value, margin, is_apart):
    found = compare(result(rows=triad(50.0)), result(rows=triad(value)), margin)
    (row,) = found.blocks[3].values()
    assert row['word'] == 'apart' * is_apart
    assert row['ratio'] == pytest.approx(value / 50 - 1)


@pytest.mark.parametrize(
    'bound, value', [('lower', 50), ('lower', 30), ('upper', 50), ('unknown', 50)]
)
def test_a_bound_is_compared_with_nothing(bound, value):
    """One that lay 38 % below the other figure was "no figure apart"."""
    rows = triad(40.0)
    rows['triad']['bound'] = bound
    pair = result(rows=rows), result(rows=triad(value))
    for a, b in (pair, pair[::-1]):
        found = compare(a, b, 0.02)
        assert bound != 'lower' or found.verdict == (
            'UNDECIDED: lower bounds are not comparable (triad)'
        )
        assert not found.is_same
        assert found.blocks[3].values()[0]['word'] == 'not comparable'


def test_a_metric_of_one_side_is_apart():
    found = compare(result(rows=triad(50.0)), result(rows=made_up.stream()), 0.02)
    apart = {row['metric'] for row in found.blocks[3].values() if row['word'] == 'apart'}
    assert {'copy', 'scale', 'add'} < apart


@pytest.fixture
def results(tmp_path):
    """results/ with the records of two nodes, the first with its job and build."""
    folder = tmp_path / 'results'
    for name in ('records', 'jobs/a', 'builds/' + 'b' * 64):
        (folder / name).mkdir(parents=True)
    made_up.write(folder / 'records/a.json', [made_up.record('n1', facts={'thp': 'always'})])
    made_up.write(folder / 'records/b.json', [made_up.record('n2', facts={'thp': 'never'})])
    (folder / 'jobs/a/job.json').write_text('{"record": "a.json"}')
    (folder / f'builds/{"b" * 64}/build.json').write_text(json.dumps({'binary_sha256': 'b' * 64}))
    return folder


@pytest.mark.parametrize('name', ['a', 'a.json', '{}/records/a.json', '{}/records/a.json#n1'])
def test_a_result_is_found_with_its_job_and_build_by_every_name(results, name):
    found = find(name.format(results), results)
    assert found.record['host'] == 'n1' and found.job and found.build
    assert found.job_folder == results / 'jobs/a'
    assert found.title == 'thin:node stream gcc-o2 omp n1, 2026-05-28T20:26:40Z'


def test_of_several_records_the_host_chooses_one(results):
    file = made_up.write(results / 'records/c.jsonl', [made_up.record(n) for n in ('n1', 'n2')])
    assert find(f'{file}#n2', results).record['host'] == 'n2'
    with pytest.raises(MembwError, match='names 2 records'):
        find(str(file), results)


@pytest.mark.parametrize('text', ['[1]', '{"host": "n1"}', '[' * 100_000, '', 'x', '\0'])
def test_a_file_that_is_no_record_is_one_line(tmp_path, membw, text):
    (tmp_path / 'x.json').write_text(text)
    status, _, said = membw('diff', tmp_path / 'x.json', tmp_path / 'x.json')
    assert status == 2
    assert f'no record: {tmp_path}/x.json:1: ' in said or 'names 0 records' in said


def test_the_command_shows_the_fields_and_the_verdict(results, membw):
    for name, share, more in (('d', 0.9, {}), ('e', 0.5, {'bound': 'lower'})):
        rows = {n: row | more for n, row in made_up.stream(share=share).items()}
        made_up.write(results / f'records/{name}.json', [made_up.record(rows=rows)])
    for words, status, verdict in (
        (['b'], 0, SAME),
        (['d'], 1, 'DIFFERENT: figures (copy, scale, add, triad)'),
        (['d', '--margin', '11'], 0, 'SAME: '),
        (['e'], 1, 'UNDECIDED: lower bounds are not'),
    ):
        done, out, _ = membw('diff', 'a', *words, '--results', results)
        assert done == status and f'Verdict: {verdict}' in out
        is_listed = ['thp', 'always', 'never'] in [line.split() for line in out.splitlines()]
        assert is_listed == (words == ['b'])
    status, _, err = membw('diff', 'a', 'no-such', '--results', results)
    assert status == 2 and "membw: no result 'no-such'\nhint: " in err
