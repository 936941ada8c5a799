"""Whatever ends a command ends what it had started: one line, and the status that shells use."""

import os
import signal
import subprocess
import sys
import time

import pytest

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
