"""`membw nightly`: what its mail, status, JUnit and node-check file say of each kind of night.

The steps are stand-ins (a script called membw, first on the PATH) that leave what the real ones
leave: they prove how a night is kept, not what is measured.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from xml.etree import ElementTree

import pytest
from made_run import MadeRun, metric
from places import ROOT

from membw.cli import build_parser, main
from membw.nightly import command as nightly
from membw.nightly.night import Night

STEPS = 'run', 'campaign-thin', 'history', 'report', 'export'
CALLS = [name.partition('-')[0] for name in STEPS]

# notes its words, leaves a report and its ledger, does what STEP.does says, in shell
MEMBW = """#!/bin/sh
echo "$*" >>"$MEMBW_ROOT/calls"
case $1 in
run) for kind in json ledger; do
	[ ! -e "$MEMBW_ROOT/made/reports/run.$kind" ] ||
		cp "$MEMBW_ROOT/made/reports/run.$kind" "$MEMBW_ROOT/results/reports/run-$$.$kind"
     done
     echo 'Verdict: PASS: 1 PASS' ;;
campaign) while [ "$1" != --output ]; do shift; done
     mkdir -p "$2" && cd "$2" || exit
     echo 'n001 PASS' >nodecheck.txt
     set campaign ;;
history) echo 'Verdict: UNDECIDED: 1 night' ;;
esac
[ ! -e "$MEMBW_ROOT/$1.does" ] || . "$MEMBW_ROOT/$1.does"
"""
DATE = '2026-05-28'


class Place:
    """A checkout with a run to be made."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.nights = folder, folder / 'results/nights'
        for name in ('bin', 'results/reports', 'made'):
            (folder / name).mkdir(parents=True)
        for name in ('reframe-checks', 'systems', 'configs'):
            (folder / name).symlink_to(ROOT / name)
        self.script('membw', MEMBW)
        monkeypatch.setenv('MEMBW_ROOT', str(folder))
        monkeypatch.setenv('PATH', f'{folder}/bin:/usr/bin:/bin')
        monkeypatch.delenv('RFM_CONFIG_PATH', raising=False)
        self.fresh()

    def fresh(self):
        """The next run to be made has no rows yet."""
        for file in (self.folder / 'made/reports').glob('*'):
            file.unlink()
        self.made = MadeRun(self.folder / 'made')
        return self

    def script(self, name, text):
        (self.folder / 'bin' / name).write_text(text)
        (self.folder / 'bin' / name).chmod(0o755)
        return self

    def does(self, step, shell):
        (self.folder / f'{step}.does').write_text(shell)
        return self

    def row(self, preset='gcc-o2', host='n001', **more):
        figures = {'triad': metric(180.0)}
        where = {'system': 'thin', 'partition': 'thin'}
        self.made.add(figures, preset, **where, record={'host': host, 'headline': 'triad'}, **more)
        return self

    def missing(self, why):
        self.made.missing(why, system='thin', partition='thin')
        return self

    def skip(self, why, **more):
        self.made.skip(why, system='thin', partition='thin', **more)
        return self

    def night(self, *words, date=DATE, system='thin'):
        if self.made.cases:
            self.made.write()
        words = ['nightly', '--system', system, '--night', date, *words]
        args = build_parser('nightly').parse_args(words)
        result = types.SimpleNamespace(status=None)
        try:
            result.status = nightly.run(args)
        except KeyboardInterrupt:
            result.status = 143
        finally:
            folder = max((self.nights / system).glob(f'{date}*'))
            result.mail = (folder / 'summary.txt').read_text()
            result.subject = result.mail.splitlines()[0].split(': ', 2)[2]
            suite = ElementTree.parse(folder / 'junit.xml').getroot()
            result.junit = {
                f'{case.get("classname")} {case.get("name")}': child.get('message')
                for case in suite
                for child in case
                if child.tag in ('failure', 'error')
            }
            check = folder / 'nodecheck.txt'
            result.nodecheck = check.read_text() if check.exists() else ''
            result.folder = folder
            print(result.subject, result.status, result.junit, result.nodecheck, sep=' | ')
        return result

    def calls(self):
        file = self.folder / 'calls'
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def place(tmp_path, monkeypatch):
    return Place(tmp_path, monkeypatch)


REPORT = '"$MEMBW_ROOT/results/reports/run-$$.json"'
CUT = f'head -c 100 "$MEMBW_ROOT/made/reports/run.json" >{REPORT}'
NO_MODULE = "gcc-o2 needs module 'gcc/12': not available here"
OUT = "n004 MISSING drained since 2026-05-27T09:12:00: 'DIMM A3'"
KNOWN = 'n004 KNOWN drained since 2026-05-01T09:12:00'
AWAY = "echo 'membw: Slurm: slurm_load_node: Socket timed out'; exit 2"
# what is planted, subject, status, a word of JUnit, of the node-check file
NIGHTS = [
    (lambda p: p.row(), 'all is well', 0, None, 'n001 PASS'),
    (lambda p: p.row().skip('no card on this system'), 'all is well', 0, None, None),
    (lambda p: p.row().does('campaign', 'echo "n001 FAIL -9 %" >nodecheck.txt; exit 1'),
     'look at campaign-thin', 1, ('night.nodes n001', 'n001 FAIL -9 %'), 'n001 FAIL'),
    (lambda p: p.row().does('campaign', f'echo "{OUT}" >>nodecheck.txt; exit 2'),
     'not complete: campaign-thin', 2, ('night.nodes n004', "drained since"), OUT),
    (lambda p: p.row().does('campaign', f'echo "{KNOWN}" >>nodecheck.txt'),
     'all is well', 0, None, KNOWN),
    (lambda p: p.row().does('campaign', f'rm nodecheck.txt; {AWAY}'),
     'not complete: campaign-thin', 2, ('night campaign-thin', 'MISSING: incomplete'), None),
    (lambda p: p.row().missing(NO_MODULE).does('run', 'exit 2'),
     'not complete: run', 2, ('thin:thin.stream gcc-o2', "module 'gcc/12'"), None),
    (lambda p: p.row().does('run', CUT),
     'not complete: reports', 2, ('night.reports ', 'no report'), None),
    # ReFrame was killed: its ledger is there, the report is not
    (lambda p: p.row().missing('x').does('run', f'rm {REPORT}; exit 1'),
     'look at run', 1, ('.report ReFrame', 'ReFrame ended before it wrote'), None),
    (lambda p: p.row().does('run', 'rm "$MEMBW_ROOT"/made/records/*'),
     'not complete: records', 2, ('night.records ', 'is gone'), None),
]  # fmt: skip


@pytest.mark.parametrize(
    'plant, subject, status, junit, node', NIGHTS, ids=[f'{n[1]} {n[3] or n[4]}' for n in NIGHTS]
)
def test_a_night_says_what_is_missing(place, plant, subject, status, junit, node):
    plant(place)
    done = place.night()
    assert (done.subject, done.status) == (subject, status), done.mail
    if junit:
        name, text = junit
        assert any(name in case and text in said for case, said in done.junit.items()), done.junit
    assert bool(done.junit) == (status > 0)
    assert (node or '') in done.nodecheck
    named = 'KNOWN, drained for 14 days and more: n004' if node == KNOWN else node
    assert not node or 'PASS' in node or named in done.mail


@pytest.mark.parametrize('step', STEPS)
@pytest.mark.parametrize('before', [True, False])
def test_a_night_that_is_stopped_anywhere_is_not_complete(place, monkeypatch, step, before):
    """By SIGTERM, or by a fault of ours: within no step, directly before or after this one."""
    place.row()
    run = Night.run

    def stopped(night, name, words, seconds):
        if name == step and before:
            raise KeyboardInterrupt
        run(night, name, words, seconds)
        if name == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(Night, 'run', stopped)
        done = place.night()
    missing = STEPS[STEPS.index(step) + (not before) :]
    if missing:
        assert done.subject == f'not complete: {", ".join(missing)}' and done.status == 143
        assert {f'night {name}' for name in missing} == {*done.junit}
    again = place.night()  # it goes on where it was
    assert (again.subject, again.status) == ('all is well', 0)
    assert place.calls() == CALLS if missing else CALLS * 2


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_a_night_that_is_killed_within_a_step_goes_on_there(place, number):
    place.row()
    place.made.write()
    text = 'trap "exit 1" INT; while :; do echo left; sleep 0.1; done'
    place.script('left', f'#!/bin/sh\n{text}\n')
    place.does('campaign', '[ -e "$MEMBW_ROOT/go" ] || exec "$MEMBW_ROOT/bin/left"')
    words = [sys.executable, '-m', 'membw', 'nightly', '--system', 'thin', '--night', DATE]
    env = {**os.environ, 'PYTHONPATH': f'{ROOT}/src'}
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    log = place.nights / 'thin' / DATE / 'campaign-thin.log'
    while not log.exists() or 'left' not in log.read_text():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(60) == (143 if number == signal.SIGTERM else -9)
    if number == signal.SIGTERM:
        mail = (place.nights / 'thin' / DATE / 'summary.txt').read_text()
        assert 'not complete: campaign-thin, history, report, export' in mail
        assert 'campaign-thin  stopped' in mail
    else:  # what it left running would write the same log as the next call
        left = subprocess.run(['pgrep', '-f', str(place.folder / 'bin/left')], capture_output=True)
        assert left.stdout
    begun = json.loads((place.nights / 'thin' / DATE / 'state.json').read_text())['begun']
    assert re.search(
        r'(Z|[+-]\d\d:\d\d)$', begun
    )  # it is resumed by whom it may concern, anywhere
    (place.folder / 'go').touch()
    assert place.night().status == 0 and place.calls() == ['run', *CALLS[1:2], *CALLS[1:]]
    left = subprocess.run(['pgrep', '-f', str(place.folder / 'bin/left')], capture_output=True)
    assert not left.stdout
    assert 'left' not in log.read_text()


def test_a_step_that_hangs_is_bounded(place, monkeypatch):
    place.row()
    place.does('run', 'exec sleep 60')
    monkeypatch.setattr(nightly, 'count', lambda text: 0.02)
    done = place.night('--minutes', '1')
    assert done.status == 2 and 'run            out of time' in done.mail


def test_two_systems_of_a_checkout_never_meet(place):
    place.row()
    assert place.night(system='thin').subject == 'all is well'
    place.fresh().does('run', 'exit 2')
    other = place.night(system='ulysses')
    assert other.status == 2 and 'not complete: run' in other.subject
    with open(place.nights / 'thin/night.lock') as lock:  # two of one at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(['nightly', '--system', 'thin', '--night', DATE]) == 2
    assert place.calls() == CALLS * 2
    mail = (place.nights / 'thin' / DATE / 'summary.txt').read_text()
    assert mail.startswith(f'Subject: membw thin {DATE}: all is well')


FULL = 'run --full --system thin --tag=nightly'.split()
OTHER = ['--checks', '-n ladder']
BEGUN = '2026-05-28T22:00:01+01:00'
AGAIN = {
    'is finished': ([], None),
    'was of another command: membw run --full --system thin --t': (OTHER, None),
    'was of another command: membw run --full --system thin': (
        [], json.dumps({'options': FULL, 'begun': BEGUN, 'steps': {}})),
    'cannot be read': ([], ''), 'cannot be read: ': ([], '[' * 100_000),
    'cannot be read: /': ([], json.dumps({
        'options': FULL, 'begun': 'x',
        'steps': {name: {} for name in ('run', 'campaign-thin', 'history', 'report', 'export')}})),
}  # fmt: skip


@pytest.mark.parametrize('said', AGAIN)
def test_a_night_that_cannot_be_continued_is_measured_anew_and_says_so(place, said):
    words, state = AGAIN[said]
    place.row()
    first = place.night()
    if state is not None:
        (first.folder / 'state.json').write_text(state)
    (first.folder.parent / f'{DATE} copy').mkdir()  # of a person
    kept = {file: file.read_bytes() for file in first.folder.glob('*.*') if file.is_file()}
    again = place.night(*words)
    assert again.folder.name == f'{DATE}.2' and f'{DATE} {said}' in again.mail
    assert place.calls() == CALLS + [call for call in CALLS if not words or call != 'campaign']
    assert kept == {file: file.read_bytes() for file in kept}


def test_a_night_with_something_missing_is_measured_again_where_it_is_called_again(place):
    place.row().missing('x').does('run', 'exit 2')
    assert place.night().status == 2
    place.fresh().does('run', '').row()
    done = place.night()
    assert (done.folder.name, done.subject) == (f'{DATE}.2', 'all is well')


def test_a_row_that_ended_is_named_every_night_until_it_is_acknowledged(place):
    def dated(day, *presets):
        place.fresh()
        for preset in presets:
            place.row(preset)
        return place.night(date=f'2026-05-{day:02}')

    row = 'thin:thin stream icx-o2 pinning=omp'
    first = dated(1, 'gcc-o2', 'icx-o2')
    assert first.subject == 'all is well'
    text = (first.folder / 'measured.json').read_text()
    (first.folder / 'measured.json').write_text(text[:99])
    done = dated(2, 'gcc-o2')  # nobody knows what was expected
    assert done.subject == 'not complete: nights' and 'measured.json' in done.mail
    (first.folder / 'measured.json').write_text(text)
    shutil.rmtree(done.folder)
    for day in range(2, 17):  # longer than the nights that are read
        done = dated(day, 'gcc-o2')
        line = f'{row} since 2026-05-01: MISSING not in this run'
        assert (done.subject, done.status) == ('not complete: rows', 2) and line in done.mail
    assert f'night.rows {row}' in done.junit
    (place.nights / 'thin/acknowledged.txt').write_text(f'{line}\n')
    assert dated(17, 'gcc-o2').subject == 'all is well'
    assert dated(21, 'gcc-o2', 'icx-o2').subject == 'all is well'
    assert 'since 2026-05-21' in dated(22, 'gcc-o2').mail  # it ended a second time
    done = place.fresh().row(test='ladder').night('--checks', '-n ladder', date='2026-05-23')
    assert done.subject == 'all is well'  # of other tests, which were not to measure it
    assert [*CALLS[:1], *CALLS[2:]] == place.calls()[-4:]  # nor all nodes


def test_the_line_of_a_step_is_its_fact(place):
    """Its log ends with a hint, or with a note on something else."""
    said = 'membw: nothing was measured', 'hint: measure', 'membw: note: hpl: left out'
    place.row().does('report', '\n'.join(f"echo '{line}'" for line in said) + '\nexit 2')
    mail = place.night().mail.splitlines()
    (line,) = (line for line in mail if line.startswith('report '))
    assert line.endswith(' s  membw: nothing was measured')


@pytest.mark.parametrize('nights, shell, status', [
    (1, 'exit 2', 0), (13, 'exit 2', 0), (14, 'exit 2', 2), (1, 'exit 1', 1), (1, 'exit 3', 2),
])  # fmt: skip
def test_a_history_of_fewer_than_14_nights_may_be_undecided(place, nights, shell, status):
    for day in range(1, nights):
        (place.nights / f'thin/2026-04-{day:02}').mkdir(parents=True)
    place.row()
    place.does('history', shell)
    assert place.night().status == status


@pytest.mark.parametrize('words', [
    '--night soon', '--minutes 0', "--checks=-n 'x", '--system ulyses', '--within soon',
])  # fmt: skip
def test_nonsense_is_refused(place, capsys, words):
    option, _, value = words.replace('=', ' ').partition(' ')
    assert main(['nightly', f'{option}={value}']) == 2
    assert value in capsys.readouterr().err and place.calls() == []


def test_two_nights_at_once_are_refused(tmp_path):
    """By ci/nightly itself: the second does not even set up."""
    nights = tmp_path / 'results/nights'
    for folder in (nights, tmp_path / 'ci'):
        folder.mkdir(parents=True)
    words = ['bash', shutil.copy(ROOT / 'ci/nightly', tmp_path / 'ci')]
    with open(nights / 'lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (nights / 'pid').write_text('4711\n')
        done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and 'process 4711' in done.stderr
