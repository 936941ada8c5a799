"""ci/nightly and `membw nightly`: resumed, locked, bounded, never losing the last good report.

The steps are stand-ins (a script called membw, one called reframe, first on the PATH): they prove
how a night is run, not what is measured; tests/test_slurm.py runs a real one.
"""

import datetime
import fcntl
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import fleet_generator
import pytest
import ranking
from http_sink import sink
from places import ROOT

from membw.errors import MembwError
from membw.nightly import command as nightly
from membw.nightly.night import Night

ENTRIES = ROOT / 'ci/entries'

# says what it was asked, does what the file STEP.does tells, in shell
MEMBW = """#!/bin/sh
step=$1
[ "$1" != run ] || case " $* " in *' -n cluster_stream '*) step=cluster ;; *) step=checks ;; esac
echo "$step $*" >>"$MEMBW_ROOT/calls"
mkdir -p "$MEMBW_ROOT/results/reports" "$MEMBW_ROOT/results/records"
folder=$MEMBW_ROOT/results
night=$(ls -d "$folder"/nights/2* | tail -1)
[ ! -e "$MEMBW_ROOT/$step.does" ] || . "$MEMBW_ROOT/$step.does"
case $step in
checks|cluster) echo '<testsuites/>' >"$folder/reports/run-$step.xml"
	echo '{}' >"$folder/reports/run-$step.json"
	[ $step = checks ] || echo '{}' >"$folder/records/x-cluster_stream.json"
	echo "Verdict: PASS: 1 passed" ;;
report) echo "report of $$" >"$night/report.html" ;;
esac
"""
REFRAME = '#!/bin/sh\ncat "$MEMBW_ROOT/listed"\n'


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'reframe-checks').mkdir()
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'systems').symlink_to(ROOT / 'systems')
    for name, text in (('membw', MEMBW), ('reframe', REFRAME)):
        (tmp_path / 'bin' / name).write_text(text)
        (tmp_path / 'bin' / name).chmod(0o755)
    (tmp_path / 'listed').write_text('- cluster_stream\nFound 1 check(s)\n')
    return tmp_path


def start(place, *words):
    return subprocess.Popen(
        [sys.executable, '-m', 'membw', 'nightly', *words],
        env={**os.environ, 'MEMBW_ROOT': str(place), 'PATH': f'{place}/bin:{os.environ["PATH"]}'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that starts these tests by & ignores it for all that they start
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def night(place, *words):
    process = start(place, *words)
    process.out, process.err = process.communicate(timeout=300)
    return process


def calls(place):
    file = place / 'calls'
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def folder_of(place):
    return next((place / 'results' / 'nights').glob('2*'))


ALL = ['checks', 'cluster', 'rank', 'history', 'report']


def test_a_good_night_runs_every_step_once_and_leaves_its_files(place):
    done = night(place, '--system', 'ulysses', '--mail-to', 'hpc@example.org')
    assert done.returncode == 0, done.out + done.err
    assert calls(place) == ALL
    left = {path.name for path in folder_of(place).iterdir()}
    wanted = {'state.json', 'summary.txt', 'report.html', 'checks.xml', 'cluster.xml'}
    assert wanted | {f'{step}.log' for step in ALL} <= left
    summary = (folder_of(place) / 'summary.txt').read_text().splitlines()
    assert summary[0] == 'To: hpc@example.org'
    assert summary[1].startswith('Subject: membw ulysses 2')
    assert summary[1].endswith('all is well')
    assert (place / 'results/nights/report.html').exists()


KNOWN = """{"session_info": {}, "runs": [{"testcases": [{"name": "stream", "system": "a",
"partition": "b", "environ": "gcc-o2", "result": "xfail",
"known_issues": "{\\"triad\\": \\"T 1\\"}",
"perfvalues": {"a:b:triad": [1, 9, -0.1, 0.1, "GB/s", "xfail"]}}]}]}"""


def test_a_known_failure_is_well_and_is_named(place):
    (place / 'known.json').write_text(KNOWN)
    does = 'trap \'cp "$MEMBW_ROOT/known.json" "$folder/reports/run-checks.json"\' EXIT'
    (place / 'checks.does').write_text(does)
    done = night(place)
    assert done.returncode == 0, done.out + done.err
    lines = (folder_of(place) / 'summary.txt').read_text().splitlines()
    assert lines[0].endswith('all is well, known failures')
    assert 'stream @a:b+gcc-o2: KNOWN triad: T 1' in lines


def test_who_is_to_be_told_gets_the_folder_and_the_status(place):
    """By the entry for a webhook, and by a command that fails: that is no quiet night."""
    with sink() as (address, got):
        hook = f'env MEMBW_WEBHOOK={address} {ENTRIES}/notify-webhook'
        mail = f'env SENDMAIL={place}/sendmail {ENTRIES}/notify-mail'
        (place / 'sendmail').write_text(f'#!/bin/sh\ncat >{place}/mail\n')
        (place / 'sendmail').chmod(0o755)
        words = ('--notify', f'{hook} --unless-well', '--notify', hook, '--notify', mail)
        done = night(place, '--mail-to', 'hpc@example.org', *words)
    assert done.returncode == 0, done.out + done.err
    (message,) = got  # of a good night, by the one that wants to hear of all
    assert 'all is well' in message['text'] and 'checks    well' in message['text']
    assert (place / 'mail').read_text() == (folder_of(place) / 'summary.txt').read_text()
    done = night(place, '--notify', 'sh -c "exit 3"')
    assert done.returncode == 2
    assert 'nobody was told by \'sh -c "exit 3"\': exit status 3' in done.err


def test_the_same_night_again_measures_nothing_and_says_the_same(place):
    first, second = night(place), night(place)
    assert calls(place) == ALL
    assert second.returncode == first.returncode == 0
    assert 'Subject: ' in second.out
    assert night(place, '--again').returncode == 0
    assert calls(place) == 2 * ALL


def test_a_slow_night_is_status_1_and_shows_why(place):
    script = 'printf "n6 PASS\\nn7 FAIL -9 %%\\n\\nn8\\n" >"$night/nodecheck.txt"; exit 1'
    (place / 'rank.does').write_text(script)
    done = night(place)
    assert done.returncode == 1
    assert 'look at rank' in done.out.split('Subject: ')[1].splitlines()[0]
    told = done.out.split('Subject: ')[1]
    assert 'n7 FAIL -9 %\nn8\n' in told and 'n6 PASS' not in told
    assert calls(place) == ALL


def test_a_slow_rack_is_a_red_night_that_names_its_nodes(place):
    """30 of 100 nodes at -50 %, as the whole-cluster job leaves them, judged by the real command:
    once all of them were PASS. The check itself counts them by the same rule."""
    fleet = fleet_generator.healthy(100, seed=4)
    fleet_generator.slow(fleet, range(30), 0.5)
    records = fleet_generator.write(fleet_generator.records(fleet), place / 'rack.jsonl')
    left = 'cp "$MEMBW_ROOT/rack.jsonl" "$folder/records/x-cluster_stream.jsonl"\n'
    (place / 'cluster.does').write_text(left)
    (place / 'rank.does').write_text(f'exec {sys.executable} -m membw "$@"\n')
    done = night(place)
    assert done.returncode == 1, done.out + done.err
    subject, *lines = done.out.split('Subject: ')[1].splitlines()
    assert subject.endswith('look at rank')
    slow = [line for line in lines if ' SUSPECT in the slower part of its peers' in line]
    assert len(slow) == 30 and '(30 of 100 nodes, -50.' in slow[0]
    judged, _ = ranking.judge(records, [], place / 'nodecheck.txt')
    assert len(ranking.of_verdict(judged.nodes, 'FAIL', 'SUSPECT')) == 30


def test_a_stopped_night_goes_on_where_it_was_stopped(place):
    (place / 'rank.does').write_text('[ -e "$MEMBW_ROOT/go" ] || sleep 60')
    process = start(place)
    while 'rank' not in calls(place):
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert process.returncode == 143
    assert 'not complete' in (folder_of(place) / 'summary.txt').read_text()
    (place / 'go').touch()
    assert night(place).returncode == 0
    assert calls(place) == ['checks', 'cluster', 'rank', 'rank', 'history', 'report']


def test_a_night_killed_outright_goes_on_too(place):
    (place / 'history.does').write_text('[ -e "$MEMBW_ROOT/go" ] || sleep 5')
    process = start(place)
    while 'history' not in calls(place):
        time.sleep(0.05)
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=300)
    (place / 'go').touch()
    assert night(place).returncode == 0
    assert calls(place) == ['checks', 'cluster', 'rank', 'history', 'history', 'report']


def test_a_step_that_hangs_is_bounded_and_the_night_not_complete(place):
    (place / 'checks.does').write_text('trap "" INT; sleep 300')
    script = (
        'import sys; from membw import cli\n'
        'from membw.nightly import command as nightly, night; night.GRACE_S = 1\n'
        'real = nightly.main\n'
        'def main(args): args.minutes = 0.05; return real(args)\n'
        'nightly.main = main; sys.exit(cli.main(["nightly"]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', script],
        env={**os.environ, 'MEMBW_ROOT': str(place), 'PATH': f'{place}/bin:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert 'out of time' in done.stdout
    (place / 'checks.does').unlink()
    before = len(calls(place))
    assert night(place).returncode == 0
    again = calls(place)[before:]  # the cluster's job too, where no time was left for it
    assert again[0] == 'checks' and again[-3:] == ['rank', 'history', 'report']


def test_a_clock_that_is_set_back_loses_nothing_of_the_night(place):
    """What a step left is known by its name, not by a date before the step began."""
    late = 'touch -d "2001-01-01" "$folder"/reports/* "$folder"/records/*\n'
    tool = place / 'bin/membw'
    tool.write_text(MEMBW + late)
    assert night(place).returncode == 0
    folder = folder_of(place)
    assert (folder / 'checks.json').exists() and (folder / 'cluster.xml').exists()
    assert (folder / 'cluster.records/x-cluster_stream.json').exists()


def test_a_failing_report_leaves_the_last_good_one(place):
    assert night(place, '--night', '2026-11-20').returncode == 0
    shutil.rmtree(place / 'results/nights/2026-11-20')
    good = (place / 'results/nights/report.html').read_text()
    (place / 'report.does').write_text('echo half >"$night/report.html"; exit 1')
    assert night(place, '--night', '2026-11-21').returncode == 1
    assert (place / 'results/nights/report.html').read_text() == good


def test_a_system_without_nodes_leaves_the_cluster_out(place):
    (place / 'listed').write_text('Found 0 check(s)\n')
    done = night(place)
    assert done.returncode == 0
    assert calls(place) == ['checks', 'history', 'report']
    assert 'left out: no partition of this system has nodes' in done.out


def test_another_system_and_other_checks_in_the_same_night_are_refused(place):
    asked = '--system', 'thin', '--checks', '-n stream'
    assert night(place, *asked).returncode == 0
    for words, fact in (
        (('--system', 'cea', *asked[2:]), "was begun for system 'thin'"),
        ((*asked[:3], '-n one'), "was begun for checks '-n stream'"),
    ):
        done = night(place, *words)
        assert done.returncode == 2 and fact in done.err and 'hint: ' in done.err


@pytest.mark.parametrize('state', ['[]', 'null', '{}', '{"steps": []}', '{"steps": {"x": 1}}',
                                   '{"steps": '])  # fmt: skip
def test_a_damaged_state_is_one_line(tmp_path, state):
    (tmp_path / 'state.json').write_text(state)
    with pytest.raises(MembwError, match='state.json. is damaged') as error:
        Night(tmp_path)
    assert '--again' in error.value.hint


@pytest.mark.parametrize('words', [('--night', 'soon'), ('--minutes', '0'), ('--keep', 'x'),
                                   ('--checks', "-n 'x"), ('--system', 'ulyses')])  # fmt: skip
def test_nonsense_is_asked_again(place, words):
    done = night(place, *words)
    assert done.returncode == 2
    assert words[1] in done.err and 'hint: ' in done.err
    assert calls(place) == []


def test_a_night_is_named_after_the_day_on_which_it_began():
    at = datetime.datetime
    assert nightly.this_night(at(2026, 11, 21, 23, 0)) == '2026-11-21'
    assert nightly.this_night(at(2026, 11, 22, 3, 0)) == '2026-11-21'
    assert nightly.this_night(at(2026, 11, 22, 12, 0)) == '2026-11-22'


def test_nights_before_the_last_ones_go_with_their_results_and_nothing_else_does(place, call):
    """By nights that were measured, whatever the clock says; what somebody else put there stays.

    The database is a real one, with one session of a real, empty run moved to 1970."""
    (place / 't.py').write_text(
        'import reframe as rfm\nimport reframe.utility.sanity as sn\n\n\n@rfm.simple_test\n'
        "class t(rfm.RunOnlyRegressionTest):\n    valid_systems = ['*']\n"
        "    valid_prog_environs = ['*']\n    executable = 'true'\n\n"
        '    @sanity_function\n    def fine(self):\n        return True\n'
    )
    database = place / 'results' / 'results.db'
    database.parent.mkdir()
    for _ in range(2):
        done = call(
            *('reframe', '-c', place / 't.py', '-r', '-p', 'gcc-o2', '--prefix', place / 'rfm'),
            RFM_ENABLE_RESULTS_STORAGE=1,
            RFM_SQLITE_DB_FILE=database,
        )
        assert done.returncode == 0, done.stdout
    with sqlite3.connect(database) as base:
        first = base.execute('SELECT uuid FROM sessions LIMIT 1').fetchone()
        base.execute('UPDATE sessions SET session_start_unix = 1 WHERE uuid = ?', first)
    old = place / 'results' / 'nights' / '2020-01-01'
    records, jobs = place / 'results' / 'records', place / 'results' / 'jobs'
    record, job = records / '20200101T220000-x.json', jobs / '20200101T220000-x'
    stays = [records / 'cluster.jsonl', records / '20261121T220000-x.json', jobs / 'README',
             jobs / '20261121T220000-x' / 'job.json']  # fmt: skip
    for path in (old / 'state.json', record, job / 'job.json', *stays):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{}')
        os.utime(path, (0, 0))
    (jobs / '20200102T220000-link').symlink_to(jobs / 'README')
    (place / 'bin' / 'reframe').write_text(
        f'#!/bin/sh\ncase $1 in --delete*) MEMBW_ROOT={ROOT} RFM_SQLITE_DB_FILE={database} '
        f'exec {shutil.which("reframe", path=pathlib.Path(sys.executable).parent)} "$@" ;; esac\n'
        'echo "Found 0 check(s)"\n'
    )
    assert night(place, '--night', '2026-11-20', '--keep', '2').returncode == 0
    assert old.exists() and record.exists()
    done = night(place, '--night', '2026-11-21', '--keep', '2')
    assert done.returncode == 0
    assert 'removed: 1 night, 2020-01-01 (--keep 2), and 2 reports' in done.out
    assert not old.exists() and not record.exists() and not job.exists()
    assert all(path.exists() for path in stays) and (jobs / '20200102T220000-link').is_symlink()
    with sqlite3.connect(database) as base:
        assert base.execute('SELECT count(*) FROM sessions').fetchone() == (1,)
    database.write_text('no database')  # what cannot be removed is no quiet night
    done = night(place, '--night', '2026-11-22', '--keep', '2')
    assert done.returncode == 1, done.out + done.err
    subject, *lines = done.out.split('Subject: ')[1].splitlines()
    assert subject.endswith('look at forget')
    assert 'removed: 1 night, 2026-11-20 (' in done.out
    (line,) = (line for line in lines if line.startswith('forget '))
    assert "sessions before 2026-11-21 stay in '" in line and 'not a database' in line
    database.unlink()  # reported again, all is well
    assert night(place, '--night', '2026-11-22', '--keep', '2').returncode == 0


@pytest.mark.parametrize('tonight, others, gone', [
    ('1970-01-01', ['2026-11-20', '2026-11-21'], '2026-11-20'),
    ('2026-11-21', ['2026-11-20', '2031-01-01'], '2026-11-20'),
    ('2031-01-01', ['2026-11-20', '2026-11-21'], '2026-11-20'),
])  # fmt: skip
def test_the_night_under_way_stays_whatever_the_clock_says(place, tonight, others, gone):
    """A clock that begins at 1970 had the night remove itself; one that was ahead for a night, all
    that came after it."""
    for name in others:
        assert night(place, '--night', name).returncode == 0
    done = night(place, '--night', tonight, '--keep', '2')
    assert done.returncode == 0, done.err
    assert f'removed: 1 night, {gone} (--keep 2)' in done.out
    stays = {path.name for path in (place / 'results/nights').glob('[12]*')}
    assert stays == {tonight, *others} - {gone}
    assert (place / 'results/nights' / tonight / 'summary.txt').exists()


def test_a_clock_that_was_set_back_is_no_quiet_night(place):
    """It bore the name of a night that was over: all was well again, and nothing measured."""
    assert night(place, '--night', '2026-11-21').returncode == 0
    done = night(place, '--night', '2026-11-21')
    assert done.returncode == 0 and 'Nothing ran now: this night was over at 2' in done.out
    state = place / 'results/nights/2026-11-21/state.json'
    state.write_text(re.sub('"ended": "[0-9]{4}', '"ended": "9998', state.read_text()))
    done = night(place, '--night', '2026-11-21')
    assert done.returncode == 2 and 'not complete: clock' in done.out
    assert 'later than now: was the clock set back?' in done.out
    assert len(calls(place)) == len(ALL)
    assert night(place, '--night', '2026-11-21', '--again').returncode == 0


def test_two_nights_at_once_are_refused(root, call):
    """By ci/nightly itself, in this checkout: the second does not even set up."""
    nights = root / 'results' / 'nights'
    nights.mkdir(parents=True, exist_ok=True)
    with open(nights / 'lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (nights / 'pid').write_text('4711\n')
        done = call('bash', 'ci/nightly')
    assert done.returncode == 2
    assert 'another night is under way in this checkout, process 4711' in done.stderr
    assert 'hint: ' in done.stderr


def test_a_checkout_of_somebody_else_and_one_without_locks(root, call, tmp_path):
    """One line, and status 2; or one line, and on: the second is no other night."""
    (tmp_path / 'ci').mkdir()
    shutil.copy(root / 'ci/nightly', tmp_path / 'ci')
    (tmp_path / 'ci/setup.sh').write_text('echo set-up; exit 3\n')
    (tmp_path / 'results').write_text('no folder: what root may not write either')
    done = call('bash', tmp_path / 'ci/nightly')
    assert done.returncode == 2 and re.search(
        r"^membw: '.*/results/nights' cannot be", done.stderr
    )
    assert done.stderr.count('\n') == 2 and '\nhint: ' in done.stderr
    (tmp_path / 'results').unlink()
    (tmp_path / 'flock').write_text('#!/bin/sh\nexit 66\n')
    (tmp_path / 'flock').chmod(0o755)
    done = call('bash', tmp_path / 'ci/nightly', PATH=f'{tmp_path}:{os.environ["PATH"]}')
    assert done.returncode == 3 and 'set-up' in done.stderr
    assert done.stderr.startswith("membw: no locks on the file system of 'results'")


def test_ci_nightly_explains_itself(call):
    done = call('bash', 'ci/nightly', '--help')
    assert done.returncode == 0
    assert 'takes up where it was stopped' in done.stdout
