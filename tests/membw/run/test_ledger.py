"""The ledger of a run and its report: what is missing, cut or of other types is named."""

import json
import os
import re
import signal
import subprocess
import time
from xml.etree import ElementTree

import pytest
import tiny_check
from made_run import MadeRun, metric

from membw.cli import main
from membw.errors import MembwError
from membw.export.rows import of_reports
from membw.report.run import run_of_report
from membw.results import reframe
from membw.summary import junit
from membw.summary.command import read, show


def skipped(made):
    return reframe.skipped(reframe.load(str(made.path))[1])


@pytest.fixture
def made(tmp_path):
    return MadeRun(tmp_path)


def good(made, name='stream', **case):
    made.add({'triad': metric(40.0)}, test=name, record={'headline': 'triad'}, **case)
    return made.event('expected').event('setup', stage='s', scheduler='local').event('success')


def words(path):
    """{test: (word, reason)} of the table; JUnit has the same words."""
    run = read(str(path))
    junit.write(run)
    suite = ElementTree.parse(path.with_suffix('.xml')).getroot()
    bad = {c.get('classname').split('.')[-1]: c[0] for c in suite if len(c) and c[0].text}
    found = {row.test: (row.word, row.reason) for row in run.rows}
    for test, (word, reason) in found.items():
        assert word == 'VALID' or bad[test].text.startswith(f'{word}: {reason}')
    assert (run.status == 0) == all(word == 'VALID' for word, _ in found.values())
    return found


def lose(made, name):
    made.cases = [case for case in made.cases if case['name'] != name]


CASES = {
    'begun': lambda m: m.add(test='x', pinning='').event('expected').event('setup', stage='s'),
    'never': lambda m: m.add(test='x', pinning='').event('expected'),
    'for now': lambda m: m.missing('in use: n1', test='x', pinning=''),
    'not here': lambda m: m.skip('no card', test='x', pinning=''),
}


@pytest.mark.parametrize('report', ['whole', 'cut', 'none'])
@pytest.mark.parametrize('state', CASES)
def test_what_a_report_has_not_the_ledger_names(made, state, report):
    CASES[state](good(made))
    if state in ('begun', 'never'):
        lose(made, 'x')
    made.write()
    if report == 'cut':
        os.truncate(made.path, 100)
    elif report == 'none':
        made.path.unlink()
    wanted = {'begun': 'under way when', 'never': 'not begun when', 'for now': 'in use: n1'}
    found = words(made.path)
    assert found.pop('report', ('VALID',))[0] == ('VALID' if report == 'whole' else 'MISSING')
    word, reason = found.pop('x', ('', ''))
    assert found.keys() == {'stream'}
    if state == 'not here':
        assert not word and skipped(made) == [('x', 'gcc-o2', 'no card')]
    else:
        assert word == 'MISSING' and wanted[state] in reason


def test_what_a_killed_reframe_had_measured_keeps_its_words(made):
    """A night out of time read its 20 good rows as 'MISSING: no figure in its record'."""
    good(made)
    record = made.cases[-1]['record']
    made.event('success', record=record, word='VALID')
    for word in ('DIED', 'INVALID', 'UNDECIDED', 'FAIL'):
        made.add(test=word.lower(), pinning='').event('expected').event('setup', stage='s')
        made.event('failure', phase='sanity', why=f'{word}: why', word=word, reasons='why')
    made.path.unlink(missing_ok=True)
    before = words(made.path)
    assert before.pop('report')[0] == 'MISSING'
    assert before.pop('stream') == ('VALID', '')
    assert before == {word.lower(): (word, 'why') for word, _ in before.values()}
    reframe.write_of_ledger(str(made.path))
    after = words(made.path)
    assert after.pop('report')[0] == 'MISSING'
    assert after == {**before, 'stream': ('VALID', '')}
    assert read(str(made.path)).rows[1].figures['triad'].value == 40.0


@pytest.mark.parametrize('event, word', [('failure', 'MISSING'), ('skip', '')])
def test_a_row_has_the_reason_of_what_it_depends_on(made, event, word):
    """What cannot be built for now is missing; what this system has not is skipped."""
    good(made).build(result='fail' if word else 'skip').event('expected')
    made.event(event, phase='setup', why='no answer', word=word).cases[-1]['word'] = word
    needs = [['stream_binary_gcc-o2', 'local:default', 'gcc-o2']]
    made.skip('skipped, as ReFrame says it', 'startup', test='x', dependencies_actual=needs)
    made.write()
    assert words(made.path).get('x', ('', ''))[0] == word
    assert bool(word) or [why for _, _, why in skipped(made)] == ['no answer']


def test_why_reframe_stopped_is_the_reason(made):
    good(made).add(test='x').event('expected')
    made.event('stopped', why="'squeue -j 1' failed: Socket timed out")
    lose(made, 'x %pinning=omp')
    made.write()
    assert words(made.path)['x'][1].endswith("ended: 'squeue -j 1' failed: Socket timed out")


def test_what_did_not_begin_is_one_line(made, capsys):
    """After ^C 48 rows were 'MISSING (KeyboardInterrupt)'."""
    good(made)
    for number in range(48):
        made.add(test=f'x{number}').event('expected')
    made.event('stopped', why='KeyboardInterrupt')
    del made.cases[-48:]
    made.write()
    assert show(run := read(str(made.path))) == run.status == 2
    text = capsys.readouterr().out
    assert 'stopped: 48 of 49 rows not begun\n' in text and 'KeyboardInterrupt' not in text
    assert 'Verdict: MISSING: 1 VALID, 48 MISSING' in text


def test_the_newest_run_is_the_one_that_was_killed(own_place, monkeypatch, capsys):
    """Of those with a figure, by time, whatever their names."""
    made = MadeRun(own_place / 'results').add()  # a dry run: it passed without a figure
    made.path = made.path.with_name('run-9.json')
    made.write()
    made.path.with_name('run-8.json').write_text('')  # what a failed start left
    with pytest.raises(MembwError, match='no report'):
        reframe.newest()
    for name, at in (('run-7.json', 0), ('run-1.json', 1)):
        made = good(MadeRun(own_place / 'results'))
        made.path = made.path.with_name(name)
        made.write()
        os.utime(made.path, (at, at))
    assert reframe.newest() == str(own_place / 'results/reports/run-1.json')
    made.path.with_name('run.ledger').rename(made.path.with_name('run-2.ledger'))
    assert reframe.newest().endswith('run-2.json')
    assert main(['report', '-o', str(own_place / 'a.html')]) == 0  # it has no .json
    assert '2 MISSING' in capsys.readouterr().out
    monkeypatch.setattr(reframe, 'is_held', lambda: True)  # it is under way
    assert reframe.newest().endswith('run-1.json')
    monkeypatch.setattr(reframe, 'is_held', lambda: False)
    for file in made.path.parent.glob('*.json'):  # nor has any other
        file.unlink()
    assert main(['report', '-o', str(own_place / 'a.html')]) == 0
    assert '2 MISSING' in capsys.readouterr().out


def places(value, path=()):
    """The place of each value in a report."""
    yield path
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield from places(inner, (*path, name))


def test_a_report_with_a_value_of_another_type_is_read_or_named_by_its_place(made, capsys):
    """Each value of one, in turn: none is a bug of membw."""
    good(made).failed_with('gcc-o3').build('gcc-o3', 'fail', 'broken')
    medians = {'triad': {'value': 40.0, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}}
    made.cases[0] |= {'medians': medians, 'time_total': 1.5}
    made.path.with_suffix('.ledger').unlink()
    whole = json.loads(open(made.write()).read())
    number = refused = 0
    for place in [p for p in places(whole) if p]:
        for other in ([1], {'a': 1}, 5, 'x', None):
            report = json.loads(json.dumps(whole))
            at = report
            for name in place[:-1]:
                at = at[name]
            at[place[-1]] = other
            made.path.write_text(json.dumps(report))
            number += 1
            try:
                run = read(str(made.path))
            except MembwError as err:
                refused += 1
                assert 'run.json' in str(err) and re.search(r'\$|test case', str(err)), err
                continue
            show(run)
            junit.write(run)
            of_reports([str(made.folder)], [])
            run_of_report(str(made.path))
    assert number > 250 and refused > 80


def test_variables_of_a_sites_own_test_may_have_names_of_ours(made):
    """`nodes = parameter([2, 4])` of theirs, and none of the run had a table."""
    theirs = {'nodes': 4, 'node': 7, 'record': 1.5, 'verdict': [], 'medians': 'y'}
    theirs |= {'perfvalues': {'a:b:rate': [9.0, 0, None, None, 'GB/s', 'pass']}}
    good(made).add(test='hpl', **theirs)
    del made.cases[-1]['reference_expired']
    made.event('expected').event('success').write()
    assert [row.test for row in read(str(made.path)).rows] == ['stream', 'hpl']


def test_a_reframe_that_is_killed_leaves_its_ledger(own_place, tmp_path):
    """The run ends with its table and a JUnit file, not with the words of an innocent line."""
    slow = tiny_check.text().replace("'echo'", "'sleep 60; echo'")
    more = slow.replace('class tiny', 'class other')
    (tmp_path / 'tiny.py').write_text(slow + more.partition('\n\n')[2])
    options = ['-c', tmp_path / 'tiny.py', '--prefix', tmp_path / 'reframe', '--system', 'local']
    process = subprocess.Popen(['membw', 'run', *options], stdout=subprocess.PIPE, text=True)
    mine = []
    while not (mine and '"event": "run"' in mine[0].read_text()):
        assert process.poll() is None
        time.sleep(0.1)
        mine = [*(own_place / 'results').glob('reports/*.ledger')]
    child = open(f'/proc/{process.pid}/task/{process.pid}/children').read().split()
    os.kill(int(child[0]), signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode > 0 and 'Verdict: MISSING: 3 MISSING' in out, out
    assert 'under way when ReFrame ended' in out and 'ReFrame ended before it wrote one' in out
    xml = mine[0].with_suffix('.xml').read_text()
    assert 'local:default.other' in xml and 'errors="3"' in xml
    assert words(mine[0].with_suffix('.json'))['other'][0] == 'MISSING'  # for all who read reports
