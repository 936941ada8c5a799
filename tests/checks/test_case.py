"""What a case says of what did not arrive: one place for every way to end."""

import json
import types

import pytest
from lib.batch_job import never_begun
from lib.case import Case
from lib.whole_cluster import GONE, whole_cluster

from membw.results import ledger
from membw.results.table import Figure

VALID = {'verdict': 'VALID', 'host': 'n1'}
BEGUN = 'begun n1\n'


def case(folder, text='', record=None, stderr='', state='COMPLETED', expected=None):
    """A Case whose job left this ledger, this record and this stderr in its stage folder."""
    job = types.SimpleNamespace(
        stdout='out', stderr='err', state=state, nodelist=['n1'], jobid='7'
    )
    check = types.SimpleNamespace(stagedir=folder, job=job)
    made = Case(check)
    made.expected = expected or made.expected
    made.open()
    with open(folder / ledger.NAME, 'a') as file:
        file.write(text)
    for name, content in (('out', ''), ('err', stderr)):
        (folder / name).write_text(content)
    if record:
        (folder / 'record.json').write_text(json.dumps(record))
    made.gather()
    return made


@pytest.mark.parametrize(
    'built, there, died', [('7 9', '7 9', True), ('7 9', '8 9', False), ('', '8 9', True)]
)
def test_sigill_of_code_for_the_cpu_of_another_node_is_missing(tmp_path, built, there, died):
    """A binary of -march=native on a shared home: a healthy node was DEAD, for ever."""
    made = case(tmp_path, BEGUN)
    made.check.binary = types.SimpleNamespace(cpu=built)
    with open(tmp_path / ledger.NAME, 'a') as file:
        file.write(f'ended - 132 {there}\n')
    made.missing = []
    made.gather()
    (one,) = made.missing
    assert one.died == died and one.why.startswith('ended by SIGILL (signal 4)')


def test_of_several_launches_each_is_named(tmp_path):
    expected = {'a.json': 'local memory, 1 thread', 'b.json': 'remote memory', 'c.json': 'third'}
    (tmp_path / 'a.json').write_text(json.dumps(VALID))
    made = case(tmp_path, f'{BEGUN}ended a.json 0\nended b.json 137\n', expected=expected)
    assert [(one.what, one.why.split(':')[0], one.died) for one in made.missing] == [
        ('remote memory', 'ended by SIGKILL (signal 9)', True),
        ('third', 'not begun', False),
    ]
    assert made.missing[0].text.startswith('remote memory: ended by SIGKILL') and made.arrived


def test_one_launch_that_died_among_others_that_were_not_begun_is_died(tmp_path):
    expected = {'a.json': 'first', 'b.json': 'second'}
    made = case(tmp_path, f'{BEGUN}ended a.json 137\n', expected=expected)
    assert [one.died for one in made.missing] == [True, False]
    assert made.judge([])[0] == 'DIED'


def test_a_reference_without_its_figure_is_undecided(tmp_path, monkeypatch):
    made = case(tmp_path, f'{BEGUN}ended - 0\n', VALID)
    made.check.perf_variables = {'triad': None}
    monkeypatch.setattr('lib.references.rows', lambda check: {'triadd': (500, -0.05, 0.1)})
    word, why = made.judge([])
    assert word == 'UNDECIDED' and why.startswith("no figure for the reference of 'triadd'")


def test_a_record_without_a_figure_is_no_pass(tmp_path, monkeypatch):
    """What `loaded` leaves of a busy node; plain reframe passed it."""
    empty = {**VALID, 'verdict': 'UNDECIDED', 'metrics': {}, 'schema': 'membw-record-2'}
    made = case(tmp_path, f'{BEGUN}ended - 1\n', empty)
    made.path = tmp_path / 'record.json'
    monkeypatch.setattr('lib.references.rows', lambda check: {})
    made.check.perf_variables = {}
    assert made.judge([]) == ('UNDECIDED', 'no figure in its record')


def test_a_launch_has_its_own_end_whatever_the_whole_command_ended_with(tmp_path):
    for name in ('a', 'b'):
        (tmp_path / f'{name}.json').write_text(json.dumps(VALID))
    expected = {'a.json': 'first', 'b.json': 'second'}
    made = case(tmp_path, f'{BEGUN}ended a.json 0\nended b.json 0\nended - 1\n', expected=expected)
    assert not made.missing


def test_the_node_may_fail_after_the_record_of_the_last_launch(tmp_path):
    for name in ('a', 'b'):
        (tmp_path / f'{name}.json').write_text(json.dumps(VALID))
    expected = {'a.json': 'first', 'b.json': 'second'}
    made = case(tmp_path, f'{BEGUN}ended a.json 0\n', state='NODE_FAIL', expected=expected)
    assert [(one.what, one.why) for one in made.missing] == [
        ('second', 'node failed after its record')
    ]


def test_a_record_that_was_cut_off_did_not_arrive(tmp_path):
    (tmp_path / 'record.json').write_text('{"verdict": "VALID", "metr')
    assert case(tmp_path, f'{BEGUN}ended - 0\n').missing[0].why.startswith('no record')


@pytest.mark.parametrize(
    'limit, said',
    [
        (
            15.0,
            'job 7 waited for 15 s (max_pending_time) and was cancelled before it started: '
            'Nodes down',
        ),
        (None, 'job 7 waited and was cancelled before it started: Nodes down'),
    ],
)
def test_a_job_that_never_began_is_reported_as_that(tmp_path, monkeypatch, limit, said):
    (tmp_path / 'scontrol').write_text('#!/bin/sh\necho "JobId=$5 Reason=Nodes_down Dependency=x"')
    (tmp_path / 'scontrol').chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    job = types.SimpleNamespace(
        jobid='7', stdout='out', stderr='err', max_pending_time=limit, nodelist=None,
        scheduler=types.SimpleNamespace(registered_name='squeue'), sched_access=[], options=[],
        cli_options=[])  # fmt: skip
    assert never_begun(job) == said
    made = Case(types.SimpleNamespace(stagedir=tmp_path, job=job))
    made.gather()
    assert [(one.why, one.died, one.node) for one in made.missing] == [(said, False, '')]


@pytest.mark.parametrize(
    'text, stderr, why, died',
    [
        ('ended n2 137\n', '', 'ended by SIGKILL (signal 9)', True),
        ('started x n2\nended n2 1\n', '', 'exit status 1', True),
        ('ended n2 1\n', '', 'exit status 1', False),
        ('started x n2.site\n', '', GONE, True),
        ('', '', GONE, False),
        ('', 'srun: error: Node failure on n2', 'node failed', True),
        ('', 'srun: error: Node failure on n3', 'srun: error: Node failure on n3', False),
        ('', 'slurmstepd-n2: error: execve(): sh: No such file or directory',
         'slurmstepd-n2: error: execve(): sh: No such file or directory', False),
    ],
)  # fmt: skip
def test_a_node_without_a_record_died_or_is_missing(tmp_path, text, stderr, why, died):
    (tmp_path / ledger.NAME).write_text('started x n1\nended n1 0\n' + text)
    (tmp_path / 'err').write_text(stderr)
    check = types.SimpleNamespace(
        job=types.SimpleNamespace(stderr='err'),
        program_name=lambda: 'stream',
        case=types.SimpleNamespace(is_of_another_cpu=lambda cpu: False),
    )
    check.end_of = lambda *words: whole_cluster.end_of(check, *words)
    (one,) = whole_cluster.of_the_lost(check, tmp_path, [{'host': 'n1.site'}], ['n1', 'n2'])
    (missing,) = one['missing']
    assert (one['host'], missing['why'], missing['died']) == ('n2', why, died)


@pytest.mark.parametrize(
    'bounds, median, slowest, compared',
    [
        ((None, None, None), 20, 10, True),
        (('lower', None, None), 25, 20, True),  # what is at least 10 is not the slowest
        (('lower', 'lower', 'lower'), 20, 10, False),
    ],
)
def test_medians_of_a_cluster_are_those_of_estimates(bounds, median, slowest, compared):
    """A bound below a reference was a FAIL of the whole cluster."""
    figures = {
        f'n{i}': {'triad': Figure(metric='triad', value=10.0 * i, bound=b or '', is_bound=bool(b))}
        for i, b in enumerate(bounds, 1)
    }
    group = types.SimpleNamespace(figures=figures, any=figures['n1'])
    nodes = [types.SimpleNamespace(name=name, verdict='PASS') for name in figures]
    noted = {}
    check = types.SimpleNamespace(
        judged=types.SimpleNamespace(nodes=nodes, groups=[group]),
        slowest_of='triad',
        note_figure=lambda name, value, unit: noted.update({name: value}),
    )
    whole_cluster.report_metrics(check)
    made = {name: row['value'] for name, row in json.loads(check.metrics).items()}
    assert made == {'triad': median, 'triad_slowest': slowest}
    assert noted == (made if compared else {})
