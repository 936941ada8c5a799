"""Whatever goes wrong is one line of fact and one of hint, exit status 2; never a traceback."""

import errno
import os
import subprocess
import sys

import pytest

from membw import cli
from membw.errors import MembwError
from membw.printable import printable

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


def test_what_moves_a_cursor_or_forges_a_line_is_not_printed():
    text = 'a\nb\r\x1b[1m\x85\u2028\u202e\ud800 ä 漢'
    shown = printable(text)
    assert shown == 'a\\x0ab\\x0d\\x1b[1m\\x85\\u2028\\u202e\\ud800 ä 漢'
    assert printable('a\nb\x00', keep='\n') == 'a\nb\\x00'


def test_a_reader_that_has_seen_enough_is_no_fault():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, '-u', '-m', 'membw', 'presets', 'list'],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, '')
