"""A file that the caller names: a pipe whose other end nobody opens is not waited for."""

import os
import subprocess

import pytest

SMALL = ['-n', '100000', '-t', '3']


@pytest.fixture(scope='module')
def stream(build_program):
    return build_program(
        'stream', changes=[('harness/named_file.c', 'PIPE_WAIT_S = 10', 'PIPE_WAIT_S = 1')]
    )


@pytest.fixture
def start(stream, tmp_path):
    def of(*words):
        return subprocess.Popen([stream, *SMALL, *words], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=tmp_path)  # fmt: skip

    return of


def test_a_pipe_without_another_end_is_one_line(start, tmp_path):
    """Each of these waited for ever."""
    os.mkfifo(tmp_path / 'from')
    os.mkfifo(tmp_path / 'to')
    facts = {
        '--json to': 'nobody reads',
        '--tune=1 --save-kernels to': 'nobody reads',
        '--kernels from': 'nobody writes to',
        '--at-least from': 'nobody writes to',
    }
    started = [(start(*words.split()), words, fact) for words, fact in facts.items()]
    for process, words, fact in started:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2, (words, err)
        assert err.startswith(f"membw: {fact} the pipe '{words.split()[-1]}': waited 1 s\nhint: ")


def test_who_comes_or_writes_late_is_waited_for(start, tmp_path):
    """A command behind <(...) may take longer to begin with it than anybody waits for its end."""
    for name in ('late', 'slow'):
        os.mkfifo(tmp_path / name)
    record, floors = start('--json', 'late'), start('--at-least', 'slow')
    late = subprocess.Popen('sleep 0.4; exec cat late', shell=True, cwd=tmp_path,
                            stdout=subprocess.PIPE)  # fmt: skip
    slow = subprocess.Popen('exec >slow; sleep 1.6; echo triad=0.001', shell=True, cwd=tmp_path)
    assert late.communicate(timeout=60)[0].startswith(b'{"schema": ')
    assert floors.communicate(timeout=60)[0].startswith('membw: INVALID array-too-small')
    assert slow.wait(60) == 0 and record.wait(60) == 1


def test_a_reader_of_the_record_that_has_gone_costs_no_table(start, tmp_path):
    """It ended by SIGPIPE, with what was measured."""
    os.mkfifo(tmp_path / 'pipe')
    process = start('--json', 'pipe')
    open(tmp_path / 'pipe').close()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and 'Triad: ' in out
    assert "the record in 'pipe' is not complete: Broken pipe\nhint: who read it has gone" in err
