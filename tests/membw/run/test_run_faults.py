"""`membw run` where ReFrame, the disk or the user stop it: one clear line, nothing goes on."""

import errno
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import types

import pytest
from made_run import MadeRun

from membw.cli import main
from membw.errors import MembwError
from membw.results import run_ledger, run_lock
from membw.run import command, refusals, session
from membw.site import machine


def test_a_file_system_without_locks_is_named_and_used(monkeypatch, capsys, own_root):
    def no_locks(*_):
        raise OSError(errno.ENOSYS, 'Function not implemented')

    monkeypatch.setattr(run_lock.fcntl, 'flock', no_locks)
    with run_lock.alone():
        pass
    assert 'no locks on the file system' in capsys.readouterr().err
    shutil.rmtree(own_root / 'results')
    (own_root / 'results').write_text('a file')
    with pytest.raises(MembwError, match='cannot write'), run_lock.alone():
        pass


def test_a_disk_that_fills_in_mid_run_is_named_and_ends_it(own_root):
    (own_root / 'base.log').symlink_to('/dev/full')
    words = ['sh', '-c', 'echo begun; echo $$ >child; exec sleep 60']
    with pytest.raises(MembwError, match='cannot write .*base.log.: No space left on device'):
        session.run(words, str(own_root / 'base'), {}, False)
    child = own_root / 'child'  # it was ended before, or after, it said who it is
    assert not (child.exists() and child.read_text() and alive(int(child.read_text())))


@pytest.mark.parametrize('words, fact, hint', [
    (['-S', 'strem.array_size=1'], 'strem.array_size', "did you mean 'stream'?"),
    (['-S', 'array_szie=1'], 'array_szie', "mean 'array_size'?"),
    (['--setvar=elements=4e6'], 'elements', '--describe'),
    (['--setvar', 'stream.alow=x'], 'stream.alow', "did you mean 'allow'?"),
    (['-Sstream.quick=9', '-S', 'ntimes=3'], 'stream.quick', '--describe'),
    (['-Snbody.bodies=9'], 'nbody.bodies', 'known here: ladder stream'),
])  # fmt: skip
def test_a_variable_that_no_chosen_test_has_is_refused(capsys, words, fact, hint):
    stream = type('stream', (), {'var_space': ['array_size', 'ntimes', 'allow', 'time_limit']})
    ladder = type('ladder', (), {'var_space': ['quick', 'allow', 'time_limit']})
    with pytest.raises(SystemExit):
        run_ledger.refuse_unset(refusals.given(words), {stream, ladder})
    told, way = capsys.readouterr().err.splitlines()
    assert told == f"membw: no test that was chosen has the variable '{fact}'" and hint in way
    words = '-n x -S ntimes=3 --setvar=quick=1 -Sstream.allow=a -S time_limit=1h'.split()
    assert refusals.given(words) == 'ntimes quick stream.allow time_limit'
    run_ledger.refuse_unset(refusals.given(words), {stream, ladder})
    run_ledger.refuse_unset('anything', set())  # that no test was chosen is said elsewhere


def test_a_session_of_plain_reframe_is_waited_for(own_root):
    """It was NOT MEASURED "for the reasons above", and above was nothing."""
    (own_root / 'results/stage').mkdir()
    with open(own_root / 'results/stage/thin.lock', 'w') as file:
        refusals.refuse_second_session('thin')
        fcntl.flock(file, fcntl.LOCK_EX)
        for system in ('thin', None):
            with pytest.raises(MembwError, match="another session of 'thin' is under way"):
                refusals.refuse_second_session(system)
        refusals.refuse_second_session('cea')


TERMINATED = """
import os, signal, sys
from membw.interruption import heeded
from membw.run import session
signal.signal(signal.SIGINT, HANDLER)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # ignored where a shell began the tests by '&'
session.root = lambda: os.getcwd()
os.environ['MEMBW_ROOT'] = os.getcwd()
session.ENDING = [(number, min(s, ENDING)) for number, s in session.ENDING]
with heeded():
    session.run(['bash', '-c', SCRIPT], os.path.abspath('base'), {}, True)
"""
DEAF = 'trap "" INT; sleep 60 & echo $! >child; echo begun; wait'
# as ReFrame, whose jobs have sessions of their own; seen once in twenty: it loses a SIGINT
LOSES_ONE = """setsid sh -c 'echo $$ >child; echo begun; exec sleep 600' &
trap 'trap "kill $(cat child); exit 7" INT' INT
while :; do sleep 0.05; done"""


HEARD, IGNORED = 'signal.default_int_handler', 'signal.SIG_IGN'  # begun by a shell's '&'


@pytest.mark.parametrize('number, times, script, ending, handler', [
    (signal.SIGTERM, 1, DEAF, 0.5, IGNORED), (signal.SIGHUP, 1, DEAF, 0.5, HEARD),
    (signal.SIGQUIT, 1, DEAF, 0.5, HEARD), (signal.SIGINT, 2, DEAF, 0.5, HEARD),
    (signal.SIGTERM, 1, LOSES_ONE, 2, IGNORED),
])  # fmt: skip
def test_what_is_measured_ends_with_the_command(tmp_path, number, times, script, ending, handler):
    """`timeout`, a CI that cancels, `kill`, a terminal that closes: the benchmark once went on."""
    streams = {'stdout': subprocess.PIPE, 'stderr': subprocess.DEVNULL, 'text': True}
    text = f'ENDING, SCRIPT = {ending}, {script!r}\n{TERMINATED.replace("HANDLER", handler)}'
    process = subprocess.Popen([sys.executable, '-c', text], cwd=tmp_path, **streams)
    assert process.stdout.readline() == 'begun\n'
    child = int((tmp_path / 'child').read_text())
    for _ in range(times):  # a child that takes its time meets an impatient user
        process.send_signal(number)
        time.sleep(0.2)
    assert process.wait(200) != 0
    deadline = time.time() + 60
    while alive(child) and time.time() < deadline:
        time.sleep(0.05)
    assert not alive(child)
    process.stdout.close()


def alive(pid):
    try:
        os.kill(pid, 0)
        with open(f'/proc/{pid}/stat') as file:
            return file.read().split(') ')[1][0] != 'Z'
    except OSError:
        return False


OURS = "membw: systems/zz.yaml: 'time_limt': unknown key\nhint: did you mean 'time_limit'?"
STOPPED = 'ERROR: run session stopped: x'
PARTITIONS = [
    {'extras': {'left_out': {'icc-o2': "no 'icc'", 'icc-avx2': "no 'icc'"}}},
    {'extras': {'left_out': {'icc-o2': "no 'icc'", 'gcc-avx2': 'needs avx2'}}},
    {'extras': {}},
]


# those of tests/membw/test_typing_errors.py are typed
@pytest.mark.parametrize('rest, said, fact, hint', [
    ([], OURS, "'time_limt': unknown key", "did you mean 'time_limit'?"),
    (['-p', 'gcc-o9'], '', "no preset 'gcc-o9'", "did you mean 'gcc-o"),
    ([], STOPPED, 'before its first case: run session stopped: x', '.log'),
    (['-p', 'icc-o2'], None, "left out here is icc-o2: no 'icc'", ''),
])  # fmt: skip
def test_what_reframe_refused_is_named_with_the_way_out(rest, said, fact, hint, tmp_path):
    if said is None:
        (tmp_path / 'run.ledger').touch()  # of no case
    with pytest.raises(MembwError) as caught:
        words = (said or '').splitlines()
        refusals.refuse_nothing(str(tmp_path / 'run'), None, rest, words, PARTITIONS)
    assert fact in str(caught.value) and hint in caught.value.hint


def test_where_no_compiler_builds_openmp_it_is_said(monkeypatch, tmp_path):
    why = "probe.c:1:10: fatal error: 'omp.h' file not found"
    monkeypatch.setattr(machine, 'on_path', lambda: {'clang': [['clang-19', '19.1.7', why]]})
    (tmp_path / 'run.ledger').touch()
    here = [{'scheduler': 'local', 'extras': {}}]
    with pytest.raises(MembwError, match='does not build with -fopenmp: probe.c') as caught:
        refusals.refuse_nothing(str(tmp_path / 'run'), None, [], [], here)
    assert 'libomp-dev' in caught.value.hint and 'OPENMP=0' in caught.value.hint
    elsewhere = [{'scheduler': 'slurm', 'extras': {}}]
    with pytest.raises(MembwError, match='no test case fits this system'):
        refusals.refuse_nothing(str(tmp_path / 'run'), None, [], [], elsewhere)


def test_a_reason_is_given_once_for_all_partitions():
    texts = refusals.left_out(['-p', 'icc-.*', '-p', 'gcc-avx2'], PARTITIONS)
    assert texts == ["icc-o2, icc-avx2: no 'icc'", 'gcc-avx2: needs avx2']


def test_a_run_names_what_is_left_out_of_the_presets_it_was_given(own_place, capfd):
    main(['run', '--system', 'ulysses', '-n', 'stream', '-p', 'gcc-(o2|avx2)'])
    said = capfd.readouterr()
    assert 'left out here is gcc-avx2: needs avx2, which the CPU does not have\n' in said.err
    assert 'icc-avx2' not in said.out + said.err


def test_systems_of_other_configurations_are_reframes_to_know(monkeypatch):
    monkeypatch.delenv('RFM_CONFIG_FILES', raising=False)
    for system, fact in (('ulyses', 'no system'), ('local:defalt', 'no partition')):
        with pytest.raises(MembwError, match=fact):
            session.partitions_of(system)
        assert session.partitions_of(system, ['-C', 'site.py']) == []
    monkeypatch.setenv('RFM_CONFIG_FILES', 'site.py')
    assert session.has_other_systems([])


def test_the_name_of_a_check_selects_that_check_alone():
    words = ['-n', 'pingpong', '-p', 'gcc-o2', '-n', 'stream%pinning=omp']
    # stream%round=1%pinning=omp, too
    wanted = ['^pingpong(%|$)', 'gcc-o2', 'stream%.*pinning=omp']
    assert refusals.whole_names(words)[1::2] == wanted


def test_a_full_disk_is_named(monkeypatch, own_root):
    """It was 'Spack built no preset of this system: see rfm_job.err', which was empty."""
    refusals.refuse_full_disk()
    usage = types.SimpleNamespace(free=400_000)
    monkeypatch.setattr(refusals.shutil, 'disk_usage', lambda _: usage)
    with pytest.raises(MembwError, match='no space left on .*results.: 0.4 MiB are free'):
        refusals.refuse_full_disk()


def test_of_two_measurements_on_one_host_the_second_is_told_who_has_it(own_root, monkeypatch):
    """Both would measure each other; nodes that share the checkout measure as they like."""
    monkeypatch.setattr('sys.argv', ['/usr/bin/membw', 'node', '--line'])
    with run_lock.alone_on_host():
        said = rf'another measurement .* \(process {os.getpid()} on .*: membw node --line\)'
        with pytest.raises(MembwError, match=said), run_lock.alone_on_host():
            pass
        monkeypatch.setattr(run_lock.os, 'uname', lambda: os.uname_result(('', 'n2', '', '', '')))
        with run_lock.alone_on_host():
            pass
    with run_lock.alone_on_host():
        pass


@pytest.mark.parametrize('ends, kept', [
    ([], False), (['success'], False), (['success', 'abort'], False),
    (['success', 'failure'], True),
    (['success', 'success'], True),
])  # fmt: skip
def test_a_run_that_is_stopped_is_kept_and_shown_if_a_row_ended(
    monkeypatch, capsys, own_place, ends, kept
):
    """A table of what did not begin, and a run that 'membw summary' showed from then on."""
    folder = own_place / 'results/reports'
    folder.mkdir(parents=True, exist_ok=True)

    def stopped(args, base, *_):
        made = MadeRun(own_place / 'results')
        made.path = pathlib.Path(f'{base}.json')
        for build in (True, False):
            made.add(test='x_binary' if build else 'stream').event('expected', fixture=build)
        for case, end in zip(made.cases[:], ends):
            made.cases = [case]
            made.event(end)
        pathlib.Path(f'{base}.log').touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(command, 'run_reframe', stopped)
    assert main(['run']) == 130
    said = capsys.readouterr()
    assert ('Verdict' in said.out or 'MISSING' in said.out) == kept
    assert ('before the first row was measured' in said.err) != kept
    suffixes = {file.suffix for file in folder.iterdir()}
    assert suffixes >= {'.ledger', '.json'} if kept else suffixes == {'.log'}
