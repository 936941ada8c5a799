"""What a case says of what did not arrive: one place for every way to end."""

import functools
import json
import statistics
import time
import types

import made_up_records
import pytest
from lib.batch_job import never_begun
from lib.measurement import expectations, measurement
from lib.whole_cluster import GONE, RECORDS, whole_cluster

from membw.rank.ranking import rank_files
from membw.results import ledger
from membw.results.table import Figure

VALID = made_up_records.record('n1', case=False)
BEGUN = 'begun n1\n'


def case(folder, text='', state='COMPLETED', expected=None, built_on='', arrived=()):
    """A case whose job left this ledger and these records in its stage folder."""
    made = expectations()
    made.expect_a_record()
    made.job = types.SimpleNamespace(
        stdout='out', stderr='err', state=state, nodelist=['n1'], jobid='7'
    )
    made.stagedir, made.binary = folder, types.SimpleNamespace(cpu=built_on)
    made.expected = expected or made.expected
    ledger.write(folder, made.expected)
    with open(folder / ledger.NAME, 'a') as file:
        file.write(BEGUN + text)
    for name in ('out', 'err'):
        (folder / name).touch()
    for name in arrived:
        (folder / name).write_text(json.dumps(VALID))
    made.gather()
    return made


TWO = {'a.json': 'first', 'b.json': 'second'}
DIED, MISSING = True, False
CASES = {
    # a binary of -march=native on a shared home: a healthy node was DEAD, for ever
    'SIGILL of its own CPU': (
        {'text': 'ended - 132 7 9\n', 'built_on': '7 9'},
        [('', 'ended by SIGILL (signal 4)', DIED)],
    ),
    'SIGILL of code for another CPU': (
        {'text': 'ended - 132 8 9\n', 'built_on': '7 9'},
        [('', 'ended by SIGILL (signal 4)', MISSING)],
    ),
    'SIGILL of code for any CPU': (
        {'text': 'ended - 132 8 9\n'}, [('', 'ended by SIGILL (signal 4)', DIED)],
    ),
    'each launch is named': (
        {'text': 'ended a.json 0\nended b.json 137\n',
         'expected': {**TWO, 'c.json': 'third'}, 'arrived': ['a.json']},
        [('second', 'ended by SIGKILL (signal 9)', DIED), ('third', 'not begun', MISSING)],
    ),
    'a launch has its own end, whatever the whole command ended with': (
        {'text': 'ended a.json 0\nended b.json 0\nended - 1\n', 'expected': TWO,
         'arrived': TWO}, [],
    ),
    'the node may fail after the record of the last launch': (
        {'text': 'ended a.json 0\n', 'state': 'NODE_FAIL', 'expected': TWO, 'arrived': TWO},
        [('second', 'node failed after its record', DIED)],
    ),
}  # fmt: skip


@pytest.mark.parametrize('left, missing', CASES.values(), ids=CASES)
def test_what_did_not_arrive_is_named_with_its_end(tmp_path, left, missing):
    made = case(tmp_path, **left)
    found = [(one.what, one.why.split(':')[0], one.died) for one in made.missing]
    assert found == missing


def test_a_record_that_was_cut_off_did_not_arrive(tmp_path):
    (tmp_path / 'record.json').write_text('{"verdict": "VALID", "metr')
    assert case(tmp_path, 'ended - 0\n').missing[0].why.startswith('no record')


@pytest.mark.parametrize(
    'rows, record, why',
    [
        ({'triadd': (500, -0.05, 0.1)}, '', "no figure for the reference of 'triadd': "),
        # what `loaded` leaves of a busy node; plain reframe passed it
        ({}, 'record.json', 'no figure in its record'),
    ],
)
def test_what_is_compared_with_nothing_is_undecided(tmp_path, monkeypatch, rows, record, why):
    empty = {**VALID, 'verdict': 'UNDECIDED', 'metrics': {}, 'schema': 'membw-record-2'}
    (tmp_path / 'record.json').write_text(json.dumps(empty))
    monkeypatch.setattr('lib.references.rows', lambda check: rows)
    check = types.SimpleNamespace(
        missing=[], unclear=[], perf_variables=['triad'], judges_records=True,
        record=record and str(tmp_path / record))  # fmt: skip
    check.undecided = lambda: measurement.undecided(check)
    word, found = measurement.word_and_why(check, [])
    assert word == 'UNDECIDED' and found.startswith(why)


# the seconds that it waited, those of max_pending_time, Slurm's state, what is said
NEVER_BEGUN = [
    (20, 15.0, 'CANCELLED', 'job 7 waited for 20 s, and did not start: max_pending_time is 15 s'),
    (3, 3600.0, 'CANCELLED', 'job 7 waited for 3 s, and did not start: somebody cancelled it'),
    (3, None, 'CANCELLED', 'job 7 waited for 3 s, and did not start: somebody cancelled it'),
    (3, 3600.0, '', 'job 7 waited for 3 s, and did not start'),  # the controller went away
]


@pytest.mark.parametrize('waited, limit, state, said', NEVER_BEGUN)
def test_a_job_that_never_began_is_reported_as_that(tmp_path, tool, waited, limit, state, said):
    """'waited for 3600 s', after ten: a limit was told as a fact."""
    answer = f'echo "Welcome"; echo "JobId=7 JobState={state} Reason=Nodes_down Dependency=x"'
    tool('scontrol', answer if state else 'exit 1')
    tool('sacct', 'exit 1')
    said += ' (Slurm: Nodes down)' if state else ''
    made = expectations()
    made.expect_a_record()
    made.stagedir = tmp_path
    made.job = types.SimpleNamespace(
        jobid='7', stdout='out', stderr='err', max_pending_time=limit, nodelist=None,
        scheduler=types.SimpleNamespace(registered_name='squeue'), sched_access=[], options=[],
        cli_options=[], submit_time=time.time() - waited)  # fmt: skip
    made.gather()
    assert never_begun(made.job) == said
    assert [(one.why, one.died, one.node) for one in made.missing] == [(said, False, '')]
    made.job.state = 'BOOT_FAIL'
    assert never_begun(made.job) == 'job 7 ended before it started: the node was not ready'


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
        is_of_another_cpu=lambda cpu: False,
        damaged=[],
    )
    check.end_of = lambda *words: whole_cluster.end_of(check, *words)
    (one,) = whole_cluster.of_the_lost(check, tmp_path, [{'host': 'n1.site'}], ['n1', 'n2'])
    (missing,) = one['missing']
    assert (one['host'], missing['why'], missing['died']) == ('n2', why, died)


def test_a_damaged_record_of_one_node_leaves_the_others(tmp_path):
    """It was a UnicodeDecodeError, and none of 500 nodes had a verdict."""
    (tmp_path / ledger.NAME).write_text('started x n1\nended n1 0\nstarted x n2\nended n2 0\n')
    (tmp_path / 'err').touch()
    right = json.dumps(made_up_records.record('n1', case=False)).encode()
    (tmp_path / RECORDS).write_bytes(right + b'\n{"host": "\xff"}\n')
    check, said = types.SimpleNamespace(job=types.SimpleNamespace(stderr='err')), []
    check.warn, check.program_name = said.append, lambda: 'stream'
    check.is_of_another_cpu, check.notes_ends = lambda cpu: False, True
    for name in 'read_lines', 'gathered', 'of_the_lost', 'end_of':
        setattr(check, name, functools.partial(getattr(whole_cluster, name), check))
    one, lost = whole_cluster.records_of(check, tmp_path, ['n1', 'n2'], {})
    assert (one['host'], lost['host']) == ('n1', 'n2') and f'{RECORDS}:2: ' in said[0]
    assert 'perhaps a damaged record: ' in lost['missing'][0]['why']


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
        f'n{i}': {'triad': Figure(metric='triad', value=10.0 * i, unit='GB/s', bound=bound or '')}
        for i, bound in enumerate(bounds, 1)
    }
    runs = {name: types.SimpleNamespace(figures=of) for name, of in figures.items()}
    group = types.SimpleNamespace(first=runs, any=figures['n1'])
    nodes = [types.SimpleNamespace(name=name, verdict='PASS') for name in figures]
    made, noted = medians(types.SimpleNamespace(nodes=nodes, groups=[group]))
    assert made == {'triad': median, 'triad_slowest': slowest}
    assert noted == (made if compared else {})


def medians(ranking):
    """({metric: what its check says}, what goes into its performance)."""
    noted = {}
    check = types.SimpleNamespace(
        ranking=ranking,
        slowest_of='triad',
        note_figure=lambda name, value, unit: noted.update({name: value}),
    )
    whole_cluster.report_metrics(check)
    return {name: row['value'] for name, row in check.medians.items()}, noted


@pytest.mark.parametrize('cards', [(4, 4, 4, 4), (8,), (1,), (3, 2, 3), (1, 1)])
def test_medians_of_cards_are_those_of_every_card_measured_first(tmp_path, cards):
    """By number; also of one node, which is VALID: it had none. A node that lacks a card is
    MISSING, and has no part in them."""
    rows, triads = [], []
    for n, card in [(n, card) for n, count in enumerate(cards) for card in range(count)]:
        triad = 180 + 0.1 * card + 0.05 * n
        triads += [triad] * (cards[n] == max(cards))
        values = made_up_records.stream({'copy': 160.0, 'triad': triad})
        of = {'index': card, 'name': 'NVIDIA H200', 'count': max(cards)}
        rows.append(made_up_records.record(
            f'n{n}', 0, values, program='device', device=of,
            case={'test': 'cluster_device', 'parameters': ''}))  # fmt: skip
    again = [{**row, 'time': made_up_records.when(0.01 * i)} for row in rows for i in (1, 2, 3)]
    again = [{**row, 'metrics': made_up_records.stream({'triad': 90.0})} for row in again]
    made, noted = medians(rank_files([str(made_up_records.write(tmp_path, rows + again))]))
    assert made == noted
    assert made['triad'] == pytest.approx(statistics.median(triads))
    assert made['triad_slowest'] == min(triads) and made['copy'] == 160.0
