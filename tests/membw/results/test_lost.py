"""What was to be measured and did not arrive, in records: named by all who read them."""

import csv
import re

import made_up_records as made_up
import pytest
from made_run import MadeRun, metric

from membw.rank.ranking import rank_table
from membw.results import rows
from membw.results.figure import Figure
from membw.results.findings import reported
from membw.results.rows import rows_of_records
from membw.results.table import read_table
from membw.summary import junit
from membw.summary.command import read

BUS = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n7'}
REFUSED = {'what': 'remote memory', 'why': 'exit status 2: no', 'died': False, 'node': 'n7'}


def record(day=0.0, missing=(BUS,), rows=None, **more):
    """A record of which something is missing; without `rows` it has no figure at all."""
    made = made_up.record('n7', day, rows, missing=list(missing), **more)
    return made if rows else {**made, 'metrics': {}}


@pytest.fixture
def table(stored):
    return lambda *records: read_table([stored(records)])


def test_a_record_without_a_figure_says_what_is_missing(table):
    found = table(record(), record())  # a copy counts once
    assert not found.figures and not found.problems
    (lost,) = found.lost
    assert (lost.word, lost.node, lost.setting.preset, lost.of.session) == (
        'DIED',
        'n7',
        'gcc-o2',
        's1',
    )
    assert lost.text == 'ended by SIGBUS (signal 7) on n7'
    found = table(record(missing=()))  # nor what is missing: it is damaged
    (lost,) = found.lost
    assert (lost.word, lost.node) == ('MISSING', 'n7') and 'its record is damaged' in lost.text
    assert 'nothing was measured' in found.problems[0]
    (lost,) = table(record(missing=(), verdict='UNDECIDED')).lost  # its word says why
    assert (lost.word, lost.text) == ('UNDECIDED', 'no reason given')
    (lost,) = table({**record(missing=({**BUS, 'node': ''},)), 'host': ''}).lost  # of no node
    assert (lost.node, lost.text) == ('', 'ended by SIGBUS (signal 7)')


@pytest.mark.parametrize(
    'missing, word', [((BUS,), 'DIED'), ((REFUSED,), 'MISSING'), ((REFUSED, BUS), 'DIED')]
)
def test_a_row_with_something_missing_is_never_pass_and_shows_its_figures(table, missing, word):
    found = table(record(missing=missing, rows=made_up.stream()))
    (row,) = rows_of_records(found.figures, found.lost)
    assert row.word == word and row.headline.metric == 'triad'
    assert all(one['why'] in row.reason for one in missing)


@pytest.mark.parametrize('test, when, word', [
    ('stream', -0.01, 'PASS'), ('stream', 0.01, 'DIED'), ('ladder', -0.01, 'DIED'),
])  # fmt: skip
def test_what_died_is_cleared_by_a_later_run_of_the_same_test_alone(table, test, when, word):
    """A ladder that died on a node was forgotten as soon as stream had run there."""
    seven = made_up.record('n7', 0.1)
    found = table(*made_up.fleet(20, (0.1,)), seven, record(0.1 + when, case={'test': test}))
    nodes = {node.name: node.verdict for node in rank_table(found).nodes}
    assert nodes['n7'] == word


@pytest.mark.parametrize('form', ['csv', 'openmetrics'])
def test_the_export_has_it_until_it_is_measured_again(stored, membw, form):
    def said(*records):
        return membw('export', '--format', form, stored(records))[1]

    text = said(record())
    assert 'DIED' in text and ('ended by SIGBUS' in text or form == 'openmetrics')
    again = said(record(), made_up.record('n7', 0.5))
    assert ('DIED' in again) == (form != 'openmetrics')  # that has the newest alone
    assert 'DIED' in said(record(0.5), made_up.record('n7'))  # what was measured before
    if form == 'csv':
        (row,) = [r for r in csv.DictReader(text.splitlines()) if r['verdict'] == 'DIED']
        assert row['node'] == 'n7' and not row['value']


def stream(rate):
    return {'copy': metric(40.0), 'triad': metric(rate)}


DIED = {'word': 'DIED', 'reasons': 'ended by SIGBUS (signal 7) on n7', 'fail_phase': 'sanity'}
ENDS = [
    (DIED, 'DIED', 'ended by SIGBUS (signal 7) on n7'),
    ({'fail_phase': 'run_complete', 'job_state': 'TIMEOUT'}, 'DIED', 'time limit reached'),
    ({'result': 'abort', 'fail_phase': 'run', 'fail_reason': 'KeyboardInterrupt'}, 'MISSING',
     'KeyboardInterrupt'),
    ({'fail_phase': 'sanity', 'fail_reason': 'attribute error: x'}, 'MISSING',
     'sanity: attribute error: x'),
    ({**DIED, 'word': 'MADE UP'}, 'INVALID', 'ended by SIGBUS'),
]  # fmt: skip


@pytest.mark.parametrize('case, word, why', ENDS)
def test_a_round_without_a_figure_is_never_forgotten(tmp_path, case, word, why):
    """Whatever ended it: ReFrame called it a failure, and the row was PASS."""
    run = MadeRun(tmp_path).add(stream(40.0)).add(round=2)
    run.cases[-1] |= {'result': 'fail', **case}
    found = read(run.write())
    (row,) = found.rows
    begin = '1 of 2 rounds: ' * (word != 'INVALID')
    assert row.word == word and row.reason.startswith(begin + why)
    assert found.status == 1 + (word == 'MISSING')
    assert bool(row.figures) == (word != 'INVALID')
    junit.write(found)
    tag = 'failure' if word == 'INVALID' else 'error'
    assert f'<{tag} message="{word}: ' in run.path.with_suffix('.xml').read_text()


LIMIT = {'result': 'fail', 'fail_phase': 'performance', 'fail_reason': 'triad=39.9'}
TYPO = "no figure for the reference of 'triadd': did you mean 'triad'?"
NOT_APPLIED = {'result': 'fail', 'word': 'UNDECIDED', 'reasons': TYPO, 'fail_phase': 'sanity'}


@pytest.mark.parametrize('rate, made, case, word', [
    (40.0, {'record': {'verdict': 'INVALID'}}, {}, 'INVALID'),  # whatever the report says
    # by six digits it misses the limit, by all digits it meets it
    (39.9000001, {'references': {'triad': [42, -0.05, 0.1]}}, LIMIT, 'FAIL'),
    (40.0, {}, NOT_APPLIED, 'UNDECIDED'),
])  # fmt: skip
def test_record_and_report_are_believed_where_they_are_worse(tmp_path, rate, made, case, word):
    run = MadeRun(tmp_path).add(stream(rate), **made)
    run.cases[-1] |= case
    (row,) = read(run.write()).rows
    assert row.word == word and row.figures and row.is_valid == (word != 'INVALID')
    assert word != 'UNDECIDED' or row.reason == TYPO


def test_the_medians_of_a_cluster_that_lacks_a_node_are_shown(tmp_path):
    """ReFrame has no figure of a case that fails before its last phase."""
    run = MadeRun(tmp_path).add(test='cluster_stream', node_check='nodecheck.txt')
    run.cases[-1] |= {**DIED, 'result': 'fail', 'medians': {'triad': metric(180.0)}}
    (row,) = read(run.write()).rows
    assert row.word == 'DIED' and row.headline.value == 180.0


@pytest.mark.parametrize('word', ['UNDECIDED', 'DIED', 'MISSING'])
def test_a_row_without_figures_has_the_word_of_its_check(word):
    """A whole cluster of which nothing can be said was PASS, with exit status 0."""
    assert rows.judged([rows.Attempt(word, reported('why'), {})])[0] == word


def test_monitoring_keeps_what_died_on_each_node_until_it_was_measured_there(stored, membw):
    """What another node measured since took n7's death out of the dashboard."""
    eight = {**record(0.1), 'host': 'n8'}
    records = [record(0.1), eight, made_up.record('n8', 0.2), made_up.record('n9', 0.2)]
    out = membw('export', '--format', 'openmetrics', stored(records))[1]
    (died,) = re.findall('.*verdict="DIED".*', out)
    assert 'node="n7"' in died


@pytest.mark.parametrize('turn', [1, -1])
def test_a_wrong_round_is_wrong_whatever_comes_after_it(turn):
    """Also where it left no figure."""
    wrong = rows.Attempt('INVALID', reported('why'), {})
    sound = rows.Attempt('VALID', (), {'triad': Figure('triad', 180.0, 'GB/s')})
    assert rows.judged([wrong, sound][::turn])[0] == 'INVALID'
