"""What a case says of what did not arrive: one place for every way to end."""

import json
import types

import pytest
from lib import job_output
from lib.batch_job import never_begun
from lib.case import Case
from lib.whole_cluster import GONE, whole_cluster

from membw.results import ledger
from membw.results.table import Figure

VALID = {'verdict': 'VALID', 'host': 'n1'}
KILLED = '/stage/rfm_job.sh: line 5: 30092 Killed                  /bin/stream --json record.json'
LIMIT = 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-25T20:00:00 DUE TO TIME LIMIT ***'
OOM = 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.'
BEGUN = 'begun n1\n'


def case(folder, text='', record=None, stderr='', state='COMPLETED', expected=None):
    """A Case whose job left this ledger, this record and this stderr in its stage folder."""
    job = types.SimpleNamespace(
        stdout='out', stderr='err', state=state, nodelist=['n1'], jobid='7'
    )
    part = types.SimpleNamespace(scheduler=types.SimpleNamespace(registered_name='local'))
    check = types.SimpleNamespace(stagedir=folder, job=job, current_partition=part)
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


# ledger, record, stderr, state of the job: what is missing, and whether it died
ENDS = [
    ('ended - 0\n', VALID, '', '', None),
    ('ended - 1\n', {**VALID, 'verdict': 'INVALID'}, '', '', None),
    ('ended - 0\n', None, '', '', ('no record: it printed nothing', False)),
    ('ended - 0\n', None, 'srun: error: Node failure on n1', '', ('node failed', True)),
    ('ended - 0\n', None, '', 'NODE_FAIL', ('node failed', True)),
    ('ended - 135\n', None, '', '', ('ended by SIGBUS (signal 7)', True)),
    ('ended - 139\n', VALID, '', '', ('ended by SIGSEGV (signal 11) after its record', True)),
    ('ended - 1\n', VALID, '', '', ('exit status 1 after its record', True)),
    ('ended - 2\n', {**VALID, 'verdict': 'INVALID'}, '', '',
     ('exit status 2 after its record', True)),
    ('ended - 163\n', None, '', '', ('ended by signal 35', True)),
    ('ended - 250\n', None, '', '', ('exit status 250', True)),
    ('ended - 128\n', None, '', '', ('exit status 128', True)),
    ('ended - 137\n', None, KILLED, '', ('ended by SIGKILL (signal 9): perhaps as memory', True)),
    ('ended - 2\n', None, "membw: no file 'x'", '', ("exit status 2: membw: no file 'x'", False)),
    ('ended - 1\n', None, 'libnuma: Warning: node argument 1 is out of range', '',
     ('exit status 1: libnuma: Warning: node argument 1 is out of range', True)),
    ('ended - 2\n', None, 'srun: error: n1: task 0: Exited with exit code 2', '',
     ('exit status 2: srun: error: n1', True)),
    ('', None, '', 'TIMEOUT', ('time limit reached', True)),
    ('', None, LIMIT, 'COMPLETED', ('time limit reached', True)),
    ('', None, '', 'CANCELLED by 0', ('cancelled', True)),
    ('', None, '', 'NODE_FAIL', ('node failed', True)),
    ('', None, OOM, 'COMPLETED', ('memory limit reached', True)),
    ('', None, '', 'OUT_OF_MEMORY', ('memory limit reached', True)),
    ('ended - 137\n', None, '', 'OUT_OF_MEMORY',
     ('ended by SIGKILL (signal 9), memory limit reached', True)),
    ('ended - 137\n', None, OOM, '', ('ended by SIGKILL (signal 9), memory limit reached', True)),
    ('ended - 137\n', VALID, OOM, '',
     ('ended by SIGKILL (signal 9), memory limit reached after its record', True)),
    ('', None, '', 'COMPLETED', ('the job ended', True)),
    ('', VALID, '', 'NODE_FAIL', ('node failed after its record', True)),
    ('ended - 0\n', {**VALID, 'ended_by': 'SIGTERM'}, LIMIT, '',
     ('ended by SIGTERM, time limit reached', True)),
]  # fmt: skip


@pytest.mark.parametrize('text, record, stderr, state, missing', ENDS)
def test_what_did_not_arrive_is_named_with_its_end(tmp_path, text, record, stderr, state, missing):
    made = case(tmp_path, BEGUN + text, record, stderr, state)
    if missing is None:
        assert made.missing == []
        return
    (one,) = made.missing
    assert one.why.startswith(missing[0]) and one.died is missing[1] and one.node == 'n1'


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
    'stderr, shown',
    [
        ("warm-up\nmembw: no file 'x'", "membw: no file 'x'"),
        ('-----\n\nThere are not enough slots available', 'There are not'),
        ('make: warning\ncc: error: no such file', 'cc: error'),
        ('srun: error: n1: task 0: Exited with exit code 2', 'srun: error: n1'),
        ('/s/rfm_job.sh: line 8: 23644 Bus error               /b/stream --json r.json', ''),
    ],
)
def test_the_last_words_are_the_programs_own(stderr, shown):
    said = job_output.last_words(stderr)
    assert said.startswith(shown) and bool(said) == bool(shown)


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
        jobid='7', stdout='out', stderr='err', max_pending_time=limit, nodelist=None
    )
    assert never_begun(job, 'squeue') == said
    assert never_begun(job, 'pbs') == said.removesuffix(': Nodes down')
    part = types.SimpleNamespace(scheduler=types.SimpleNamespace(registered_name='squeue'))
    made = Case(types.SimpleNamespace(stagedir=tmp_path, job=job, current_partition=part))
    made.gather()
    assert [(one.why, one.died, one.node) for one in made.missing] == [(said, False, '')]


def test_a_node_without_a_record_died_as_the_ledger_says(tmp_path):
    """Also in a further measurement, in which the line of an earlier one may stand there."""
    (tmp_path / ledger.NAME).write_text('ended n1 0\nended n1 137\nended n2 0\n')
    check = types.SimpleNamespace(
        by_srun=True, uses_mpi=False, stagedir=tmp_path, program_name=lambda: 'node'
    )
    lines = [json.dumps({'host': 'n3.site'})]
    made = map(json.loads, whole_cluster.of_the_dead(check, lines, ['n1', 'n2', 'n3']))
    why = {one['host']: one['missing'][0]['why'] for one in made}
    assert why == {'n1': 'ended by SIGKILL (signal 9)', 'n2': GONE}


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
