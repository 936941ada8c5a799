"""Whatever ends a calibration while it writes: the old references are whole, or the new ones."""

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys

import history_generator as gen
import pytest
import results_store
import yaml
from checkout_copy import copy_checkout

from membw.cli import main

# writes half of a file, says so, and is then given a signal
HALF = """
import signal, sys, time
from membw import cli, files
def half(file, content):
    file.write(content.encode()[: len(content) // 2])
    file.flush()
    print('half', flush=True)
    time.sleep(300)
files._write = half
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell began it by '&'
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.exit(cli.main(sys.argv[1:]))
"""
ENDS = {
    signal.SIGINT: (130, 'membw: interrupted\n'),
    signal.SIGTERM: (143, 'membw: ended by SIGTERM\n'),
    signal.SIGHUP: (129, 'membw: ended by SIGHUP\n'),
    signal.SIGKILL: (-9, ''),
}
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # prctl(2): root, too, may then not write what is not


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    sessions = results_store.sessions_of(gen.healthy(60, 1, 1), where='local:default')
    return results_store.store(tmp_path_factory.mktemp('store') / 'results.db', sessions)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    copy_checkout(tmp_path)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    return tmp_path


def words(runs):
    return ['calibrate', '--system', 'local', '--replace', str(runs)]


def files_of(checkout):
    """{path: text} of all that lies where references are written."""
    every = (p for p in (checkout / 'systems').rglob('*') if p.is_file())
    return {str(p.relative_to(checkout)): p.read_text() for p in every}


def begin(code, runs):
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen([sys.executable, '-c', code, *words(runs)], **pipes)


def test_a_signal_amid_the_write_leaves_the_old_file_and_blocks_nobody(checkout, runs, capsys):
    """All wait for one lock: whoever has it is ended, by whichever signal is left."""
    before = files_of(checkout)
    waiting = {process.stdout: process for process in (begin(HALF, runs) for _ in ENDS)}
    for number, (status, line) in ENDS.items():
        (ready, *_), _, _ = select.select(list(waiting), [], [], 120)
        process = waiting.pop(ready)
        assert ready.readline() == 'half\n'
        process.send_signal(number)
        assert (process.communicate(timeout=60)[1], process.returncode) == (line, status)
        left = {name: text for name, text in files_of(checkout).items() if name not in before}
        assert {name: files_of(checkout)[name] for name in before} == before
        assert len(left) == (number == signal.SIGKILL), left
    assert main(words(runs)) == 0 and 'written: ' in capsys.readouterr().out
    table = yaml.safe_load((checkout / 'systems/references/local.yaml').read_text())
    assert set(table['stream']['local:default']['gcc-o2']['likwid']) >= {'copy', 'triad'}


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(checkout, runs, capsys):
    assert main(words(runs)) == 0
    file, before = checkout / 'systems/references/local.yaml', files_of(checkout)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        more = ['--expires', '30', '--floors', str(checkout / 'floors')]
        assert main([*words(runs), *more]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    err = capsys.readouterr().err
    assert f"membw: cannot write '{file}': File too large\nhint: the references are as" in err
    assert files_of(checkout) == before and not (checkout / 'floors').exists()


@pytest.mark.parametrize('folder, file', [
    ('systems/references', 'systems/references/local.yaml'),
    ('systems', 'systems/local.yaml'),  # which is to name the other file: neither is written
])  # fmt: skip
def test_a_folder_that_may_not_be_written_is_told_before_anything_is(checkout, runs, folder, file):
    before = files_of(checkout)
    (checkout / folder).chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, '-m', 'membw', *words(runs)],
            preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE),
            capture_output=True, text=True,
        )  # fmt: skip
    finally:
        (checkout / folder).chmod(0o755)
    assert done.returncode == 2 and f"membw: cannot write '{checkout / file}'" in done.stderr
    assert done.stderr.count('\n') == 2 and 'hint: the references are as before' in done.stderr
    assert files_of(checkout) == before and os.access(checkout / folder, os.W_OK)
