"""ci/nightly and `membw nightly`: resumed, locked, bounded.

The steps are stand-ins (a script called membw, first on the PATH): they prove how a night is run.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from places import ROOT

from membw.cli import build_parser
from membw.nightly import command as nightly

# notes its words, does what the file STEP.does says, in shell
MEMBW = """#!/bin/sh
echo "$*" >>"$MEMBW_ROOT/calls"
results=$MEMBW_ROOT/results
night=$(ls -d "$results"/nights/2* | tail -1)
[ $1 != run ] || cp "$results/made.json" "$results/reports/run-$$.json"
[ ! -e "$MEMBW_ROOT/$1.does" ] || . "$MEMBW_ROOT/$1.does"
[ $1 != run ] || echo 'Verdict: PASS: 1 PASS'
"""
ALL = ['run', 'rank', 'history', 'report', 'export']


@pytest.fixture
def place(tmp_path):
    for name in ('reframe-checks', 'bin', 'results/reports', 'results/records'):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / 'systems').symlink_to(ROOT / 'systems')
    (tmp_path / 'bin/membw').write_text(MEMBW)
    (tmp_path / 'bin/membw').chmod(0o755)
    record = tmp_path / 'results/records/cluster.json'
    record.write_text('{}\nno json\n')
    case = {'node_check': 'x.nodecheck', 'record': str(record)}
    report = {'runs': [{'testcases': [case]}]}
    (tmp_path / 'results/made.json').write_text(json.dumps(report))
    return tmp_path


def start(place, *words):
    return subprocess.Popen(
        [sys.executable, '-m', 'membw', 'nightly', *words],
        env={**os.environ, 'MEMBW_ROOT': str(place), 'PATH': f'{place}/bin:{os.environ["PATH"]}'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def night(place, *words):
    process = start(place, *words)
    process.out, process.err = process.communicate(timeout=300)
    return process


def calls(place):
    file = place / 'calls'
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def folder_of(place):
    return next((place / 'results/nights').glob('2*'))


def test_a_good_night_runs_every_step_once_and_says_so(place):
    done = night(place, '--system', 'ulysses', '--mail-to', 'hpc@example.org')
    assert done.returncode == 0, done.out + done.err
    assert calls(place) == ALL
    lines = (place / 'calls').read_text().splitlines()
    assert lines[0] == 'run --full --system ulysses --tag=nightly'
    records, files = f'{folder_of(place)}/cluster.records', '--nodes .*/nodes.txt --node-check .*'
    assert re.fullmatch(f'rank {records} {files}/nodecheck.txt', lines[1])
    assert (folder_of(place) / 'cluster.records/cluster.json').exists()
    summary = (folder_of(place) / 'summary.txt').read_text().splitlines()
    assert summary[0] == 'To: hpc@example.org'
    assert summary[1].startswith('Subject: membw ulysses 2') and 'all is well' in summary[1]
    assert [line.split()[:2] for line in summary[3:8]] == [[name, 'well'] for name in ALL]


def test_a_night_without_a_cluster_run_has_no_ranking(place):
    report = place / 'results/made.json'
    report.write_text('{"runs": [{"testcases": []}]}')
    assert night(place).returncode == 0
    assert calls(place) == ['run', *ALL[2:]]


def test_a_slow_node_is_status_1_and_is_named(place):
    script = 'printf "n6 PASS\\nn7 FAIL -9 %%\\n" >"$night/nodecheck.txt"; exit 1'
    (place / 'rank.does').write_text(script)
    done = night(place)
    subject, *lines = done.out.split('Subject: ')[1].splitlines()
    assert done.returncode == 1 and subject.endswith('look at rank')
    assert 'n7 FAIL -9 %' in lines and 'n6 PASS' not in lines
    assert calls(place) == ALL


def test_the_same_night_again_measures_nothing(place):
    assert [night(place).returncode for _ in range(2)] == [0, 0]
    assert calls(place) == ALL


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_night_goes_on_where_it_was_stopped(place, number):
    (place / 'rank.does').write_text('[ -e "$MEMBW_ROOT/go" ] || sleep 20')
    process = start(place)
    while 'rank' not in calls(place):
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == (143 if number == signal.SIGTERM else -9)
    (place / 'go').touch()
    assert night(place).returncode == 0
    assert calls(place) == ['run', 'rank', *ALL[1:]]


def test_a_step_that_hangs_is_bounded_and_the_night_is_not_complete(place, monkeypatch):
    (place / 'run.does').write_text('sleep 300')
    monkeypatch.setenv('MEMBW_ROOT', str(place))
    monkeypatch.setenv('PATH', f'{place}/bin:{os.environ["PATH"]}')
    parser = build_parser('nightly')
    args = parser.parse_args(['nightly'])
    args.minutes = 0.02
    assert nightly.run(args) == 2
    assert 'run       out of time' in (folder_of(place) / 'summary.txt').read_text()


@pytest.mark.parametrize(
    'words',
    [('--night', 'soon'), ('--minutes', '0'), ('--checks', "-n 'x"), ('--system', 'ulyses')],
)
def test_nonsense_is_refused(place, words):
    done = night(place, *words)
    assert done.returncode == 2 and words[1] in done.err
    assert calls(place) == []


def test_two_nights_at_once_are_refused(root, call):
    """By ci/nightly itself, in this checkout: the second does not even set up."""
    nights = root / 'results' / 'nights'
    nights.mkdir(parents=True, exist_ok=True)
    with open(nights / 'lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (nights / 'pid').write_text('4711\n')
        done = call('bash', 'ci/nightly')
    assert done.returncode == 2 and 'process 4711' in done.stderr
