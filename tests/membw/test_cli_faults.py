"""Whatever goes wrong is one line of fact and one of hint, exit status 2, no traceback. Whatever
ends a command ends what it had started."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from membw import cli
from membw.errors import MembwError
from membw.presets import PresetError
from membw.printable import printable
from membw.site import machine

HINT = 'hint: does it exist,'
FAULTS = [
    (OSError(errno.ENOSPC, 'No space left', 'results/x'), "membw: 'results/x': No space left\n"),
    (PermissionError(errno.EACCES, 'Denied', 'a\x1bb'), f"membw: 'a\\x1bb': Denied\n{HINT}"),
    (FileNotFoundError(errno.ENOENT, 'No such file', 'sh'), f"membw: 'sh': No such file\n{HINT}"),
    (MemoryError(), "membw: not enough memory\nhint: see the limits: 'ulimit -v'"),
    (type('PanicException', (BaseException,), {})('Rust'), 'membw: a bug of membw: PanicExcep'),
    (KeyError('kernels'), "membw: a bug of membw: KeyError: 'kernels' (test_cli_faults.py:"),
    (RecursionError('maximum depth'), 'membw: a bug of membw: RecursionError'),
    (UnicodeEncodeError('utf-8', '\ud800', 0, 1, 'no'), 'membw: text that is not utf-8: no\n'),
    (MembwError('\x1b[2Jhost\u2028x', 'n\x07o'), 'membw: \\x1b[2Jhost\\u2028x\nhint: n\\x07o'),
    (MembwError("'a\nmembw: b'", 'c\nd'), "membw: 'a\\x0amembw: b'\nhint: c\\x0ad\n"),
    (PresetError('a\nb', 'c'), 'membw: a\\x0ab\nhint: c\n'),
]


@pytest.mark.parametrize('error, line', FAULTS, ids=lambda v: type(v).__name__)
def test_a_fault_is_one_line(monkeypatch, capsys, error, line):
    def fail(argv):
        raise error

    monkeypatch.setattr(cli, 'dispatch', fail)
    monkeypatch.delenv('MEMBW_DEBUG', raising=False)
    assert cli.main([]) == 2
    err = capsys.readouterr().err
    assert err.startswith(line) and err.count('\n') == 2 and '\nhint: ' in err
    assert 'Traceback' not in err


@pytest.mark.parametrize('close, words, status, said', [
    ('>&-', 'presets list', 2, 'membw: stdout is closed'), ('<&-', 'presets list', 0, ''),
    ('<&-', 'rank -', 2, 'no record to rank'), ('>&- 2>&-', 'presets list', 2, ''),
    ('<&- >&- 2>&-', 'rank -', 2, ''), ('2>&-', 'presets list', 0, ''),
])  # fmt: skip
def test_a_command_may_be_started_with_closed_streams(close, words, status, said):
    """As some daemons do; it was a bug of membw, three times."""
    line = f'{sys.executable} -m membw {words} {close}'
    done = subprocess.run(['sh', '-c', line], capture_output=True, text=True)
    assert (done.returncode, 'a bug' in done.stderr) == (status, False) and said in done.stderr


def test_what_moves_a_cursor_or_forges_a_line_is_not_printed():
    text = 'a\nb\r\x1b[1m\x85\u2028\u202e\ud800 ä 漢'
    shown = printable(text)
    assert shown == 'a\\x0ab\\x0d\\x1b[1m\\x85\\u2028\\u202e\\ud800 ä 漢'
    assert printable('a\nb\x00', keep='\n') == 'a\nb\\x00'


@pytest.mark.parametrize('words', ['--help', 'accept --template', 'published', 'presets list'])
def test_what_cannot_be_printed_is_said_before_python_ends(words):
    """Little output lies in a buffer until then: status 120 and an "Exception ignored"."""
    unbuffered = ['-u'] * (words == 'presets list')
    line = [sys.executable, *unbuffered, '-m', 'membw', *words.split()]
    with open('/dev/full', 'w') as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, 'membw: No space left on device')
    read, write = os.pipe()
    os.close(read)
    with open(write, 'w') as closed:
        done = subprocess.run(line, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (141, '')


@pytest.mark.parametrize('line', [
    'rank nosuch 2>/dev/full', '--bad 2>/dev/full', 'presets list >/dev/full 2>/dev/full',
    'rank /dev/zero', 'yes | rank -', 'rank /dev/full 2>/dev/full',
])  # fmt: skip
def test_a_full_stderr_and_an_input_without_an_end_are_usage_errors(line):
    """Status 120, and memory until the kernel ended something."""
    pipe, _, words = line.rpartition('| ')
    line = f'ulimit -v 6000000; {pipe and "yes |"} {sys.executable} -m membw {words}'
    done = subprocess.run(['sh', '-c', line], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and 'Traceback' not in done.stderr
    assert '2>' in words or 'gives more than 1 GiB\nhint: give a file' in done.stderr


STARTED = """
import signal, subprocess, sys
from membw import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell began it by '&'
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[2:] else signal.SIG_DFL)
cli.dispatch = lambda argv: subprocess.run(['sh', '-c', sys.argv[1]], capture_output=True)
sys.exit(cli.main([]))
"""
# a build's compiler, below a shell
BEGUN = """sleep 600 & echo $! >child; : >begun; wait"""


def start(place, *more):
    words = [sys.executable, '-c', STARTED, BEGUN, *more]
    process = subprocess.Popen(
        words, cwd=place, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (place / 'begun').exists():
        time.sleep(0.02)
        assert process.poll() is None
    return process


@pytest.mark.parametrize('number, status, line', [
    (signal.SIGINT, 130, 'membw: interrupted\n'),
    (signal.SIGTERM, 143, 'membw: ended by SIGTERM\n'),
    (signal.SIGHUP, 129, 'membw: ended by SIGHUP\n'),
    (signal.SIGQUIT, 131, 'membw: ended by SIGQUIT\n'),
    (signal.SIGUSR1, 138, 'membw: ended by SIGUSR1\n'),
    (signal.SIGUSR2, 140, 'membw: ended by SIGUSR2\n'),
    (signal.SIGXCPU, 152, 'membw: ended by SIGXCPU\n'),
])  # fmt: skip
def test_nothing_that_a_command_started_outlives_it(tmp_path, number, status, line):
    process = start(tmp_path)
    process.send_signal(number)
    assert process.communicate(timeout=300)[1] == line
    assert process.returncode == status
    deadline = time.time() + 60
    while os.path.exists(f'/proc/{(tmp_path / "child").read_text().strip()}'):
        assert time.time() < deadline
        time.sleep(0.05)


def test_nohup_is_heeded(tmp_path):
    process = start(tmp_path, 'nohup')
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=300)[1] == 'membw: ended by SIGTERM\n'


ENVIRONMENTS = {  # what is unset, or set to; what is said
    'PATH': (None, "membw: 'reframe': No such file or directory\n"),
    'TMPDIR': ('/nowhere', 'membw: cannot make a temporary folder\nhint: TMPDIR=PATH'),
    machine.COMPILERS: ('[', "membw: no program 'stream' in '/nowhere'\n"),
}


@pytest.mark.parametrize('name', ENVIRONMENTS)
def test_a_variable_that_is_nonsense_is_no_bug(name):
    value, said = ENVIRONMENTS[name]
    words = {'PATH': 'run -l', 'TMPDIR': 'expect'}.get(name, 'node --programs /nowhere')
    env = {k: v for k, v in os.environ.items() if k != name} | ({name: value} if value else {})
    done = subprocess.run(
        [sys.executable, '-m', 'membw', *words.split()], env=env, capture_output=True, text=True
    )
    assert done.returncode == 2 and said in done.stderr and 'a bug' not in done.stderr
