"""What the end of a local job of ReFrame does to what it started."""

import os
import signal
import subprocess
import time
import types

import pytest
from lib import local_jobs
from reframe.core.schedulers.local import LocalJobScheduler

# a program that saves what it has when it is told to end, below a script that does not wait for it
SAVES = """sh -c 'trap "sleep 0.3; touch saved; exit" TERM; touch begun
while :; do sleep 0.05; done'
:"""


@pytest.mark.beside
def test_a_program_that_is_ended_early_may_save_what_it_measured(monkeypatch, tmp_path):
    """A time limit, Ctrl-C: ReFrame 4.10 killed it as soon as its script was gone."""
    monkeypatch.setattr(LocalJobScheduler, '_kill_all', LocalJobScheduler._kill_all)
    local_jobs.end_alone()
    process = subprocess.Popen(['bash', '-c', SAVES], cwd=tmp_path, start_new_session=True)
    while not (tmp_path / 'begun').exists():
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGTERM)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    files = {f'f_{name}': (tmp_path / name).open('w') for name in ('stdout', 'stderr')}
    number, later = process.pid, time.time() + 10  # two seconds after that
    job = types.SimpleNamespace(jobid=number, _jobid=number, _proc=process, _state='RUNNING',
                                cancel_time=later, **files)  # fmt: skip
    LocalJobScheduler().poll(job)
    assert (tmp_path / 'saved').exists()
