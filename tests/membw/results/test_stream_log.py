"""Logs of stream.c and its kin: each run is one of its node, by the conditions that it prints."""

import os
import re

import pytest

from membw.results import stream_log
from membw.results.table import read_table

VALIDATES = 'Solution Validates: avg error less than 1e-13 on all three arrays'
LINE = '-' * 61
HEADS = {
    '5.10': 'STREAM version $Revision: 5.10 $\n'
    'This system uses {bytes} bytes per array element.\n'
    'Array size = 80000000 (elements), Offset = 0 (elements)\n'
    'Number of Threads requested = {threads}\nNumber of Threads counted = {threads}\n',
    '5.9': 'STREAM version $Revision: 5.9 $\n'
    'This system uses {bytes} bytes per DOUBLE PRECISION word.\n'
    'Array size = 80000000, Offset = 0\nNumber of Threads requested = {threads}\n',
    'mpi': 'STREAM version $Revision: 1.7 $\n'
    'This system uses {bytes} bytes per array element.\n'
    'Total Aggregate Array size = 80000000 (elements)\n'
    'Data is distributed across {ranks} MPI ranks\n'
    'Number of Threads requested for each MPI rank = {threads}\n'
    'Number of Threads counted for rank 0 = {threads}\n',
    'serial': 'STREAM version $Revision: 5.10 $\nArray size = 80000000 (elements)\n',
    'ours': 'membw stream 1.1.0, a STREAM-compatible program\n'
    'Array size = 80000000 (elements, option), Offset = 0 (elements), {bytes} bytes per element\n'
    'Number of Threads counted = {threads}\n',
}  # fmt: skip


def log(triad=200e3, end=VALIDATES, head='5.10', unit='Best Rate MB/s', **how):
    how = {'threads': 64, 'ranks': 16, 'bytes': 8, **how}
    copy = triad + 5e3 if isinstance(triad, float) else triad
    return (
        f'{LINE}\n{HEADS[head].format(**how)}Function    {unit}  Avg time  Min time  Max time\n'
        f'Copy:          {copy}     0.1  0.1  0.2\n'
        f'Triad:         {triad}     0.1  0.1  0.2\n{end}\n'
    )


def fleet(folder, nodes=8, **how):
    """Logs of n1 to n8."""
    for n in range(1, nodes + 1):
        (folder / f'n{n}.log').write_text(log(200e3 + n, **how))


def rows_of(folder):
    table = read_table([str(folder)])
    return {(f.node, f.setting.more, f.value) for f in table.figures if f.metric == 'triad'}, table


def test_a_log_is_a_run_of_the_node_that_it_is_named_for(tmp_path, membw):
    fleet(tmp_path)
    (tmp_path / 'n5.log').write_text(log(150e3))
    (tmp_path / 'n9.log').write_text(log(200e3, 'Failed Validation on array a[], AvgRelAbsErr'))
    (tmp_path / 'n10.log').write_text(log(200e3)[:99])
    status, out, _ = membw('rank', tmp_path)
    assert status == 1 and '10 nodes: 7 PASS, 1 MISSING, 1 UNDECIDED, 1 INVALID' in out
    assert 'n5 UNDECIDED (triad 150 GB/s' in out and 'n10 MISSING (stream.c: sanity: no' in out
    assert 'n9 INVALID' in out and 'not-validated' in out
    assert 'array_size=80000000 threads=64' in out and 'not validated by membw' in out
    for again in (2, 3, 4):
        for node, triad in (('n5', 150e3), ('n1', 200e3)):
            (tmp_path / f'{node}.{again}.log').write_text(log(triad + again))
    assert 'n5 FAIL' in membw('rank', tmp_path)[1]


# a text of node n1, what is said of its figure, what in a problem
DAMAGED = {
    'decimal commas': (log(150e3).replace('.0', ',0'), 'triad is 150000,0 MB/s', ''),
    'no unit': (log(150e3, unit='Best Rate Mb'), '1 tables of rates in 0 units', ''),
    'nan': (log('nan'), 'triad is nan MB/s', ''), 'inf': (log('inf'), 'triad is inf MB/s', ''),
    'zero': (log(0.0), 'triad is 0.0 MB/s', ''), 'negative': (log('-1.5'), 'triad is -1.5', ''),
    'no number': (log(''), 'triad is 0.1  0.1  0.2', ''),
    'text': (log('********'), 'triad is ********', ''),
    'two tables in one run': (log() + log()[len(LINE) + 34:], '2 tables of rates', ''),
    'not validated': (log(end='Failed Validation on array b[]'), 'Failed Validation', ''),
    'cut before the table': (log()[:120], 'no table of rates', ''),
    'cut behind it': (log(end=''), 'no table of rates and "Solution Validates"', ''),
    'two ranks': (re.sub('^', '[1,0]<stdout>:', log(), flags=re.M) +
                  re.sub('^', '[1,1]<stdout>:', log(), flags=re.M), '', '2 tasks (srun -l)'),
    'source code': ('printf("STREAM version $Revision: 5.10 $");\n', '', 'not JSON'),
    'no end of line': ('\0' * (2**26 + 9), '', '64 MiB without an end of line'),
    'thousands': (log(150e3).replace('150000.0', '150,000.0'), 'triad is 150,000.0 MB/s', ''),
    'two tasks': (re.sub('^', '0: ', log(), flags=re.M) + re.sub('^', '1: ', log(), flags=re.M),
                  '', '2 tasks (srun -l)'),
    'empty': ('', '', 'no record in this file'),
    'of another program': ('BabelStream\nTriad 9\n', '', 'no record in this file'),
}  # fmt: skip


@pytest.mark.parametrize('what', DAMAGED)
def test_what_is_no_figure_is_said_with_its_node_or_its_file(tmp_path, membw, what):
    text, said, problem = DAMAGED[what]
    fleet(tmp_path)
    (tmp_path / 'n3.log').write_text(text)
    table = read_table([str(tmp_path)])
    wrong = {f.node: f.reasons for f in table.figures if f.verdict != 'VALID'}
    wrong |= {one.node: one.text for one in table.lost}
    assert {*wrong} == ({'n3'} if said else set()) and said in wrong.get('n3', '')
    assert ['n3.log' in line and problem in line for line in table.problems] == [True] * (not said)
    status, out, err = membw('rank', tmp_path)
    assert 'n3' in out + err and (status == 1 or not said)


@pytest.mark.parametrize('text', ['1.069e+05', '106900', '1.069E5', '+106900.0'])
def test_a_rate_is_read_however_it_is_written(tmp_path, text):
    (tmp_path / 'n1.log').write_text(log(text))
    assert {value for _, _, value in rows_of(tmp_path)[0]} == {106.9}


@pytest.mark.parametrize('head, how, other', [
    ('5.9', {}, {'threads': 2}), ('5.10', {}, {'threads': 2}), ('mpi', {}, {'ranks': 2}),
    ('mpi', {}, {'threads': 2}), ('5.10', {}, {'bytes': 4}), ('5.9', {}, {'bytes': 4}),
    ('ours', {}, {'threads': 2}),
])  # fmt: skip
def test_other_conditions_are_another_setting(tmp_path, membw, head, how, other):
    """Two threads of 16 read as a node that lost 60 %."""
    fleet(tmp_path, head=head, **how)
    (tmp_path / 'n3.log').write_text(log(80e3, head=head, **other))
    settings = {setting: node for node, setting, _ in rows_of(tmp_path)[0]}
    assert len(settings) == 2 and 'n3' in settings.values()
    status, out, _ = membw('rank', tmp_path)  # and by itself it is not well
    assert status == 1 and 'n3 UNDECIDED (nothing to compare with' in out and '7 PASS' in out


def test_threads_that_are_not_known_equal_none_that_are(tmp_path):
    fleet(tmp_path, nodes=2)
    (tmp_path / 'n3.log').write_text(log(head='serial'))
    found, _ = rows_of(tmp_path)
    assert {setting.partition('threads=')[2] for _, setting, _ in found} == {'64', 'unknown'}


MODULES = ''.join(f'Loading module {i}/1.{i} of the stack\n' for i in range(200))


@pytest.mark.parametrize('text, runs', [
    (''.join(log(200e3 + i) for i in range(5)), 5), (MODULES + log(), 1),
    (re.sub('^', '0: ', log(), flags=re.M), 1),
    (MODULES + re.sub('^', ' 3: ', log(), flags=re.M) + 'done\n', 1),
    (re.sub('^', '[1,0]<stdout>:', log(), flags=re.M), 1),
    (re.sub('^', '2026-11-28T10:00:07 ', log(), flags=re.M) +
     re.sub('^', '2026-11-28T11:00:12 ', log(2e5 + 1), flags=re.M), 2),
    (MODULES + re.sub('^', 'Nov  8 10:00:00 n1 stream[12]: ', log(), flags=re.M), 1),
    (re.sub('^', '> ', log(), flags=re.M), 1),
    ('\ufeff' + re.sub(' {2,}', '\t', log()), 1),
    (re.sub('^(.*)$', '\x1b[1;32m\\1\x1b[0m', log(), flags=re.M), 1),
    (log().replace('\n', '\r\n'), 1), ('\n\n' + log() + MODULES + log(2e5 + 1), 2),
    (log(unit='Rate (MB/s) '), 1), (log(head='ours'), 1), (log(head='mpi'), 1),
], ids=['five', 'modules', 'srun -l', 'both', 'mpirun', 'two by the hour', 'journal', 'mail',
        'tabs', 'colour', 'CRLF', 'two', '5.9', 'ours', 'mpi'])  # fmt: skip
def test_files_that_people_have_are_read(tmp_path, text, runs):
    (tmp_path / 'n1.log').write_bytes(text.encode())
    table = read_table([str(tmp_path)])
    assert len([f for f in table.figures if f.metric == 'triad']) == runs and not table.problems
    assert {f.node for f in table.figures} == {'n1'} and not table.lost


def test_a_bound_of_our_own_text_is_a_bound_still(tmp_path):
    bounds = 'In GB/s (≥ at least): copy ≥ 205.0, triad ≥ 200.0'
    (tmp_path / 'n1.log').write_text(log(head='ours', end=f'{bounds}\n{VALIDATES}'))
    (tmp_path / 'n2.log').write_text(
        HEADS['ours'].format(threads=2, bytes=8) + 'Verdict: INVALID (array-too-small)\n'
    )
    table = read_table([str(tmp_path)])
    assert {f.bound for f in table.figures} == {'lower'}
    (lost,) = table.lost
    assert lost.word == 'INVALID' and 'array-too-small' in lost.text


def test_a_bound_of_our_own_text_has_no_table_and_is_read(tmp_path):
    text = """membw stream 1.1.0, a STREAM-compatible program
Array size = 20000000 (elements, option), Offset = 0 (elements), 8 bytes per element
No table, as triad is a bound, which could fail a sound node; rate of Copy: none
In GB/s (± of a rerun, ≥ at least): copy 30.1 ±2.1, scale 29.0 ±1.0, add 28.0 ±1.0, triad ≥ 22.1
Number of Threads counted = 2
Validated: all 3 x 20000000 elements hold the expected bits
Verdict: VALID
"""
    (tmp_path / 'n1.log').write_text(text)
    table = read_table([str(tmp_path)])
    found = {f.metric: (f.value, f.bound) for f in table.figures}
    assert (found['triad'], found['copy']) == ((22.1, 'lower'), (30.1, '')), table.problems


@pytest.mark.parametrize('file, log', [
    ('n1.log', ('n1', 1)), ('n1.2.log', ('n1', 2)), ('10.0.0.7.log', ('10.0.0.7', 1)),
    ('10.0.0.7.2.log', ('10.0.0.7', 2)), ('n1.site.org.log', ('n1.site.org', 1)),
    ('n1.site.org.3.log', ('n1.site.org', 3)), ('n1.log.txt', ('n1', 1)),
    ('n001_4711.out', None), ('slurm-4711.out', None), ('n1.txt', None), ('n1', None),
])  # fmt: skip
def test_no_more_is_guessed_from_a_name_than_can_be_sure(tmp_path, membw, file, log):
    if log:
        assert stream_log.node_of(file) == log
        return
    (tmp_path / file).write_text(globals()['log']())
    for path in (tmp_path / file, tmp_path) if '.' in file else [tmp_path / file]:
        status, _, err = membw('rank', path)
        assert status == 2 and file in err and 'of no known node: name it n001.log' in err
    assert '  n7  ' in membw('rank', '--as', f'n7={tmp_path / file}', tmp_path / file)[1]


def test_eight_machines_that_are_named_by_their_addresses_are_eight(tmp_path):
    for n in range(1, 9):
        (tmp_path / f'10.0.0.{n}.log').write_text(log(200e3 + n))
    assert {node for node, _, _ in rows_of(tmp_path)[0]} == {f'10.0.0.{n}' for n in range(1, 9)}


def test_two_logs_of_one_node_and_number_are_said(tmp_path):
    for name in ('a', 'b'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'n1.log').write_text(log())
        os.utime(tmp_path / name / 'n1.log', (1.78e9 + ord(name),) * 2)
    (problem,) = rows_of(tmp_path)[1].problems
    assert 'b/n1.log: of node n1, as' in problem and 'a/n1.log' in problem


def test_where_no_file_has_a_record_each_that_was_looked_at_is_named(tmp_path, membw):
    (tmp_path / 'a.json').write_text('{"a": 1}')
    (tmp_path / 'job.out').write_text('hello\n')
    (tmp_path / 'n1.log').write_text(MODULES)
    status, _, err = membw('rank', tmp_path)
    assert status == 2 and '3 files were looked at, none has a record' in err
    for file in ('a.json:1: not a record', 'job.out: no output of STREAM', 'n1.log'):
        assert file in err
