"""The table of results: one row per node, run and metric, made from the record files."""

import contextlib
import io
import json
import random

import made_up_records as made
import msgspec
import pytest
from record_schema import check_all

from membw.cli import main
from membw.errors import MembwError
from membw.results.figure import headline
from membw.results.newest import OLD_S
from membw.results.record import evidence, evidence_of, read_record, sealed
from membw.results.table import read_table
from membw.site.cpu_peak import peak_of
from membw.strict import Damaged


def table_of(tmp_path, *records):
    return read_table([str(made.write(tmp_path / 'r.jsonl', records))])


def test_made_up_records_are_as_in_the_schema():
    check_all([made.record(), made.record(case=False)])


def test_a_record_gives_a_row_for_each_metric_with_what_its_check_knows(tmp_path):
    references = {'triad': [190.0, -0.05, 0.1]}
    table = table_of(tmp_path, made.record(case={'references': references}))
    *_, triad = table.figures
    assert [f.metric for f in table.figures] == ['copy', 'scale', 'add', 'triad']
    assert (triad.value, triad.unit, triad.better) == (180.0, 'GB/s', 'higher')
    assert (triad.low, triad.high) == (pytest.approx(179.1), pytest.approx(180.9))
    of = triad.setting
    assert (of.test, of.preset, of.pinning) == ('stream', 'gcc-o2', 'omp')
    assert (triad.reference, triad.reference_low, triad.reference_high) == (190.0, -0.05, 0.1)
    assert triad.provenance['compile_line'] == 'gcc -O2 -fopenmp *.c'
    assert table.evidence(triad)['host'] == 'n1'
    assert table.problems == []
    (by_hand, *_) = table_of(tmp_path, made.record(case=False)).figures
    of = by_hand.setting
    assert (of.test, of.preset, of.system) == ('stream', 'gcc-o2', '')


@pytest.mark.parametrize('said, stands', [
    ({'headline': 'scale'}, 'scale'),
    ({}, 'triad'),  # of records before there was a headline: the last one
    ({'headline': None}, 'triad'),
    ({'headline': 'latency'}, 'triad'),  # a metric that was not measured
])  # fmt: skip
def test_the_metric_that_stands_for_a_record_is_the_one_it_names(tmp_path, said, stands):
    record = {**made.record(), **said}
    figures = {figure.metric: figure for figure in table_of(tmp_path, record).figures}
    assert evidence_of(record).stands == headline(figures).metric == stands
    assert [f.metric for f in figures.values() if f.is_headline] == [stands]


@pytest.mark.parametrize('fields, peak', [
    ({'peak': {'value': 256.0, 'unit': 'GB/s'}}, (256.0, '8 channels')),
    ({'peak': {'value': None, 'unit': 'GB/s'}}, (None, '8 channels')),
    ({'peak': None, 'peak_gbs': 256.0}, (256.0, '8 channels')),  # of membw 1.0.0
    ({'peak': {'value': 256.0, 'unit': 'GFlop/s'}}, (None, '8 channels')),
])  # fmt: skip
def test_the_peak_of_a_record_is_one_whatever_its_age(fields, peak):
    assert peak_of(made.record(case={'peak_source': '8 channels'}, **fields)) == peak
    by_hand = peak_of(made.record(case=False, **fields, peak_note='as given by --peak'))
    assert by_hand == (peak[0], 'as given by --peak')


CODE = {**made.UNKNOWN_BUILD, 'code_sha256': 'd' * 64}


NATIVE, UNKNOWN = {**made.BUILD, 'preset': 'gcc-native'}, made.UNKNOWN_BUILD
OTHER = {**CODE, 'code_sha256': 'e' * 64}


# how each record differs, settings
@pytest.mark.parametrize('differ, settings', [
    ([{'case': False}] * 3, 1),  # by BINARY.json
    ([{'case': False, 'build': NATIVE}] * 3, 1),
    ([{'case': False, 'build': CODE}] * 3, 1),  # no BINARY.json: the same code, the same build
    ([{'case': False, 'build': UNKNOWN}] * 3, 3),  # each alone
    ([{'case': False, 'build': b} for b in (made.BUILD, NATIVE, CODE, OTHER)], 4),
    ([{}, {'array_size': 90_000_000}], 1),  # the program chose it
    *(([{}, change], 2) for change in (
        {'threads': 4}, {'build': {'compiler': 'gcc 13', 'flags': '-O2 -fopenmp'}},
        {'facts': {'cpu_model': 'other'}}, {'case': {'environ': 'gcc-native'}},
        {'array_size_from': 'option'}, {'shapes': {'square': {'m': 8, 'n': 8, 'k': 8}}},
        {'program': 'loaded'},
    )),
])  # fmt: skip
def test_figures_of_another_setting_have_another_key(tmp_path, differ, settings):
    table = table_of(tmp_path, *(made.record(f'n{i}', **d) for i, d in enumerate(differ)))
    assert len({figure.setting for figure in table.figures}) == settings
    keys = {figure.of.key for figure in table.figures}
    assert 'array_size' not in differ[-1] or len(keys) == 2  # as evidence it is another one


def test_runs_before_and_after_midnight_are_of_one_night(tmp_path):
    table = table_of(tmp_path, *(made.record(day=day) for day in (0.1, 0.2, 1.1)))
    assert [f.night for f in table.figures[::4]] == ['2026-05-28', '2026-05-28', '2026-05-29']


def test_rates_of_ranks_add_up_and_of_times_the_mean_counts(tmp_path):
    rows = made.stream(share=0.5) | made.metrics({'latency': 90}, 'ns', 'lower')
    for i in range(2):  # each wrote a file
        made.write(tmp_path / f'r.jsonl.rank-{i}', [made.record(rank=i, ranks=2, rows=rows)])
    figures = read_table([str(tmp_path)]).figures
    assert {f.metric: f.value for f in figures}['triad'] == pytest.approx(180.0)
    assert (figures[-1].value, len(figures)) == (90, 5)


@pytest.mark.parametrize('ranks, total, known, lost', [
    # (node, rank) that left a record; ranks of the job; on a node, as records say; missing
    ('a0 a1 b2', 4, 0, {'b': '1 of 2 ranks left a record: none of rank 3'}),
    ('a0 a1 b2', 4, 2, {'b': '1 of 2 ranks left a record: none of rank 3'}),
    ('a0', 2, 0, {'a': '1 of 2 ranks left a record: none of rank 1'}),
    ('a1', 2, 2, {'a': '1 of 2 ranks left a record: none of rank 0'}),
    ('a0 b2', 4, 2, dict.fromkeys('ab', '1 of 2 ranks left a record: none of rank 1')),
    ('a0 a1', 4, 2, {}),  # another node left none
    ('a0 a1 b2 b3', 4, 0, {}),
    ('a0', 2**31 - 1, 0, {'a': '1 of 2147483647 ranks left a record: none of rank 1, 2, 3, 4, '
                               'and 96 more'}),
])  # fmt: skip
def test_a_lost_rank_is_missing_and_no_smaller_figure(tmp_path, ranks, total, known, lost):
    """The ranks of a whole node were lost without a word."""
    more = {'ranks': total, 'ranks_on_node': known}
    records = [made.record(node, rank=int(rank), **more) for node, rank in ranks.split()]
    table = table_of(tmp_path, *records)
    assert {x.node: x.text for x in table.lost if x.word == 'MISSING'} == lost
    assert {f.node for f in table.figures} == {node for node, _ in ranks.split()} - lost.keys()
    whole = {f.setting.ranks for f in table.figures}
    assert whole <= {'2'}
    gone = ['2 of 4 ranks left no record, nor did their node'] * (ranks == 'a0 a1')
    assert [problem.partition(': ')[2] for problem in table.problems] == gone


@pytest.mark.parametrize('field, value', [('unit', 'MB/s'), ('better', 'lower')])
def test_ranks_of_two_units_are_not_added_up(tmp_path, field, value):
    odd = made.stream()
    odd['triad'][field] = value
    both = [made.record(rank=n, ranks=2, rows=rows) for n, rows in enumerate([made.stream(), odd])]
    assert {f.metric for f in table_of(tmp_path, *both).figures} == {'copy', 'scale', 'add'}


@pytest.mark.parametrize('name', ['n2.out', 'n2.txt', 'n2.log', 'n2.json'])
@pytest.mark.parametrize('is_named', [True, False])
def test_a_record_that_a_job_printed_is_one(tmp_path, name, is_named):
    made.write(tmp_path / 'r.jsonl', [made.record()])
    printed = made.write(tmp_path / name, [made.record('n2')])
    (tmp_path / 'notes.txt').write_text('of another program\n')
    table = read_table([str(tmp_path / 'r.jsonl'), str(printed)] if is_named else [str(tmp_path)])
    assert {f.node for f in table.figures} == {'n1', 'n2'} and not table.problems


REASON = {'reason': 'not-validated', 'detail': '3 wrong', 'allowed': False}
CLOCK = {'reason': 'clock', 'detail': 'x', 'allowed': False}
AGAINST = "(the record's verdict contradicts it)"


@pytest.mark.parametrize('fields, reasons', [
    ({'verdict': 'INVALID', 'reasons': [REASON]}, 'not-validated (3 wrong)'),
    ({'case': {'verdict': 'INVALID', 'reasons': ['wrong-table']}}, 'wrong-table'),
    ({'validation': {'ok': False}}, f'not-validated {AGAINST}'),
    ({'validation': {'wrong_elements': 12}}, f'not-validated {AGAINST}'),
    ({'exit_status': 1}, f'exit status 1 {AGAINST}'),
    ({'reasons': [CLOCK]}, f'clock (x) {AGAINST}'),
])  # fmt: skip
def test_an_invalid_record_is_in_the_table_with_its_reason(tmp_path, fields, reasons):
    figures = table_of(tmp_path, made.record(**fields)).figures
    assert {(f.verdict, f.reasons) for f in figures} == {('INVALID', reasons)}


def test_a_metric_without_a_value_is_left_out_and_a_record_that_is_met_twice_counts_once(tmp_path):
    rows = made.stream() | {'ping': {'value': None, 'unit': 'us', 'better': 'lower'}}
    file = str(made.write(tmp_path / 'a.jsonl', [made.record(rows=rows)]))
    assert [f.metric for f in read_table([file, file]).figures] == [*made.KERNELS]


def test_rows_that_died_in_one_second_are_no_copies(tmp_path):
    """Without a figure the fields of their row alone tell them apart."""
    gone = {'missing': [{'what': 'a', 'why': 'gone', 'died': True}], 'verdict': 'INVALID'}
    other = {'pinning': 'likwid', 'environ': 'icx-o2', 'parameters': {'m': '1'}, 'test': 'x'}
    rows = [made.record(rows={}, case={n: v}, **gone) for n, v in [*other.items(), ('x', '')] * 2]
    assert len(table_of(tmp_path, *rows).lost) == len(other) + 1


@pytest.mark.parametrize('other', [
    {'ranks': 2, 'ranks_on_node': 1}, {'threads': 1}, {'ntimes': 7}, {'mode': 'x'},
    {'array_size': 10, 'array_size_from': 'option'}, {'pages': {'requested': '2M'}},
    {'case': {'system': 'x'}}, {'device': {'name': 'H100', 'index': 1}},
    {'facts': {'cpu_model': 'EPYC 9654'}},
], ids=str)  # fmt: skip
def test_records_of_one_second_and_equal_figures_are_copies_in_one_setting_alone(tmp_path, other):
    """A run of one rank and of two were one run."""
    rows = [made.record(), made.record(**other)] * 2
    assert len({id(f.of) for f in table_of(tmp_path, *rows).figures}) == 2


def test_a_folder_is_read_by_its_records_and_other_json_is_passed_over(tmp_path):
    (tmp_path / 'other').mkdir()
    made.write(tmp_path / 'other/r.jsonl', [made.record()])
    (tmp_path / 'other/build.json').write_text('{"a": 1}')
    assert read_table([str(tmp_path)]).problems == []
    made.write(tmp_path, [made.record(), made.record('n2')])
    for name, text in ('empty', ''), ('nul', '\0' * 8), ('windows', '\ufeff' + WHOLE):
        (tmp_path / f'records/{name}.json').write_text(text)
    (tmp_path / 'records/link.json').symlink_to('gone')
    table = read_table([str(tmp_path)])  # there all else is damaged
    found = [problem.split('/records/')[1][:4] for problem in table.problems]
    assert (len(table.figures), found) == (8, ['empt', 'link', 'nul.'])


@pytest.mark.parametrize('folder', ['.snapshot', 'a/.ipynb_checkpoints', '.git', 'lost+found'])
def test_what_lies_in_a_hidden_folder_is_no_result(tmp_path, folder):
    made.write(tmp_path, [made.record()])
    (tmp_path / 'records' / folder).mkdir(parents=True)
    made.write(tmp_path / 'records' / folder / 'r.jsonl', [made.record('n2')])
    for path in (tmp_path, tmp_path / 'records'):
        assert {f.node for f in read_table([str(path)]).figures} == {'n1'}
    hidden = read_table([str(tmp_path / 'records' / folder)])  # which somebody names
    assert {f.node for f in hidden.figures} == {'n2'}


def test_records_come_from_stdin_too(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(json.dumps(made.record()).encode()))
    monkeypatch.setattr('sys.stdin', stream)
    table = read_table(['-'])
    assert table.evidence(table.figures[0])['program'] == 'stream'
    with pytest.raises(MembwError, match='cannot read'):
        read_table(['/none'])


def with_triad(**fields):
    return {'metrics': {**made.stream(), 'triad': {**made.stream()['triad'], **fields}}}


WHOLE = json.dumps(made.record())
DAMAGED = {
    'cut': ('{"schema": "membw-record-2"', 'not JSON'),
    'a list': ('[1, 2]', "'schema' is not"),
    'no program': ('{"schema": "membw-record-2"}', "missing required field 'program'"),
    'NaN': ('{"schema": "membw-record-2", "a": NaN}', 'not JSON'),
    'nested': ('{"schema": "membw-record-2", "x": ' + '[' * 100_000, 'not JSON'),
    'a host of signs': ({'host': 'n1\x1b[2J'}, "'host' is not the name of a node"),
    'all hosts': ({'host': 'ALL'}, "'host' is not the name of a node"),
    'a list as host': ({'host': ['n1']}, 'host'),
    'no host': ({'host': None}, 'host'),
    'a number as time': ({'time': 7}, 'time'),
    'no time': ({'time': 'yesterday'}, "'time' is yesterday"),
    'tomorrow': ({'time': '9999-12-31T23:59:59Z'}, "'time' is later than today"),
    'rank': ({'rank': -1}, 'rank'),
    'ranks': ({'ranks': 0}, 'ranks'),
    'no metric': ({'metrics': {}}, "'metrics' is empty"),
    'a name': ({'metrics': {'a b': {'value': 1, 'unit': 's', 'better': 'lower'}}}, 'a metric'),
    'bits': (with_triad(unit='Gbit/s'), 'unit'),
    'no unit': (with_triad(unit=''), 'unit'),
    'a direction': (with_triad(better='x'), 'better'),
    'facts a text': ({'facts': 7}, "at 'facts'"),
    'a name of 300': ({'host': 'n' * 300}, "'host' is not the name of a node"),
    'a fact a list': ({'facts': {**made.FACTS, 'cores': [1]}}, 'cores'),
    'a case': ({'case': {'test': 7}}, 'case.test'),
    'a reference': ({'case': {'references': {'triad': ['x', 0, 0]}}}, 'the reference of'),
    'zero': (with_triad(value=0.0), 'metrics'),
    'a text': (with_triad(value='x'), 'metrics'),
    'a truth': (with_triad(value=True), 'metrics'),
    '10^400': (json.dumps({**made.record(), **with_triad(value=1)}).replace(
        '"value": 1,', '"value": 1' + '0' * 400 + ','), 'metrics'),
    'a bound': (with_triad(bound=True), 'bound'),
    'parts': ({'parts': [5]}, 'parts'),
    'counted': ({'counted': [1]}, 'counted'),
    # json takes the last one: INVALID, edited, was VALID
    'twice': (WHOLE[:-1] + ', "verdict": "VALID"}', 'a key is given twice'),
    'twice, without a space': (WHOLE[:-1] + ', "rank":0}', 'a key is given twice'),
    'metrics twice': (WHOLE[:-1] + ', "metrics": {}}', 'a key is given twice'),
    'a metric twice': (WHOLE.replace('"metrics": {', '"metrics": {"triad": {"value": 1, "unit": '
                       '"GB/s", "better": "higher"}, '), 'a key is given twice'),
    'a value twice': (WHOLE.replace('"better": ', '"value": 7, "better": ', 1), 'given twice'),
    'a word twice': (WHOLE.replace('"case": {', '"case": {"verdict": "INVALID", '), 'given twice'),
}  # fmt: skip
COMMANDS = 'rank {}', 'why n1 {}', 'export --format csv {}', 'history {}', 'report {} -o {}.html'


def line_of(damage):
    text, _ = DAMAGED[damage]
    return text if isinstance(text, str) else json.dumps({**made.record('n2'), **text})


@pytest.mark.parametrize('damage', DAMAGED)
def test_a_damaged_line_is_named_and_left_out(tmp_path, damage):
    (tmp_path / 'r.jsonl').write_text(f'{line_of(damage)}\n{WHOLE}\n')
    table = read_table([str(tmp_path / 'r.jsonl')])
    (line,) = table.problems
    assert line.startswith(f'{tmp_path}/r.jsonl:1: ') and DAMAGED[damage][1] in line
    assert len(table.figures) == 4 and len(line) < 300


@pytest.mark.parametrize('words', COMMANDS)
def test_every_command_names_each_damaged_line_alike(tmp_path, membw, words):
    file = tmp_path / 'r.jsonl'
    file.write_text('\n'.join([*map(line_of, DAMAGED), WHOLE]) + '\n')
    problems = read_table([str(file)]).problems
    _, _, err = membw(*words.format(file, file).split())
    assert len(problems) == len(DAMAGED) and not [line for line in problems if line not in err]
    assert 'a bug' not in err


def test_damage_is_named_in_a_line_that_is_older_than_what_is_judged(tmp_path, capsys):
    old, new = made.fleet(5, days=(0,)), made.fleet(4, days=(40,))
    old[1]['metrics'] = {}
    file = made.write(tmp_path / 'r.jsonl', old + new)
    for command in ('rank', 'history'):
        main([command, str(file)])
        out, err = capsys.readouterr()
        assert f'{file}:2: ' in err
        assert command != 'rank' or 'n005 MISSING (no record since' in out
    assert {f.node for f in read_table([str(file)], OLD_S).figures} == {r['host'] for r in new}


@pytest.mark.parametrize('unit, factor', [('MB/s', 1e-3), ('TB/s', 1e3), ('GiB/s', 1.073741824)])
def test_a_rate_in_another_unit_is_compared_in_GB_per_second(tmp_path, unit, factor):
    (triad,) = table_of(tmp_path, made.record(rows=made.metrics({'triad': 7.0}, unit))).figures
    assert (triad.unit, triad.value) == ('GB/s', pytest.approx(7 * factor))


@pytest.mark.parametrize('odd', [('us', 'lower'), ('ns', 'higher')])
def test_a_time_in_another_unit_or_direction_than_its_peers_is_left_out(tmp_path, odd):
    kinds = [odd, ('ns', 'lower'), ('ns', 'lower')]
    rows = [made.metrics({'latency': 90}, *kind) for kind in kinds]
    table = table_of(tmp_path, *(made.record(f'n{i}', rows=of) for i, of in enumerate(rows)))
    assert [f.node for f in table.figures] == ['n1', 'n2']
    said = f"'latency' is in {odd[0]}, {odd[1]} is better"
    assert said in table.problems[0]
    (lost,) = table.lost  # it was measured: it is not MISSING
    assert (lost.node, lost.word) == ('n0', 'UNDECIDED') and said in lost.text


def test_many_damaged_lines_are_counted(tmp_path):
    file = tmp_path / 'r.jsonl'
    file.write_text(json.dumps(made.record()) + '\n' + 'x\n' * 150)
    problems = read_table([str(file)]).problems
    assert len(problems) == 101
    assert problems[-1] == f'{file}: 50 more damaged lines'
    file.write_text('x\n' * 150)
    (problem,) = read_table([str(file)]).problems
    assert problem.startswith(f'{file}: no record in this file (')


@pytest.mark.parametrize('bounds, bound', [
    (('lower', None), 'lower'), ((None, 'upper'), 'upper'), (('lower', 'upper'), 'unknown'),
    (('lower', 'unknown'), 'unknown'),
])  # fmt: skip
def test_a_sum_of_ranks_is_a_bound_in_each_direction_in_which_one_is(tmp_path, bounds, bound):
    ranks = [made.record(rank=i, ranks=2, rows=made.stream(share=0.5)) for i in range(2)]
    for rank, of in zip(ranks, bounds, strict=True):
        rank['metrics']['triad'].update({'bound': of} if of else {})
    *_, triad = table_of(tmp_path, *ranks).figures
    assert (triad.is_bound, triad.bound, triad.low) == (True, bound, None)


# --- the checksum of a record ------------------------------------------------------------------


def test_a_line_that_was_changed_after_it_was_written_is_refused(tmp_path):
    whole = sealed(made.record()).encode()
    assert read_record(whole).sha256 and evidence(whole)['host'] == 'n1'
    rng = random.Random(1)
    for _ in range(2000):
        line = bytearray(whole.rstrip())
        line[rng.randrange(len(line))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(Damaged, ValueError):
            assert read_record(bytes(line)).metrics == read_record(whole).metrics


@pytest.mark.parametrize('change, is_read', [
    (lambda line: line, True),
    (lambda line: line.strip(), True),
    (lambda line: sealed(evidence(line)).encode(), True),  # a check adds what it knows
    (lambda line: msgspec.json.encode(evidence(line)), False),
    (lambda line: line.replace(b'"n1"', b'"n2"'), False),
    (lambda line: line.replace(b'}\n', b', "host": "n2"}\n'), False),
    (lambda line: line.replace(b', "sha256"', b' , "sha256"'), False),
    (lambda line: json.dumps({**json.loads(line), 'more': 1}).encode(), False),
    (lambda line: json.dumps({**json.loads(line), 'sha256': None}).encode(), True),
])  # fmt: skip
def test_a_checksum_is_of_all_before_it(change, is_read):
    line = change(sealed(made.record()).encode())
    with contextlib.nullcontext() if is_read else pytest.raises(Damaged, match="'sha256'|twice"):
        read_record(line)
