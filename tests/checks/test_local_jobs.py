"""What the end of a local job of ReFrame does to what it started."""

import os
import signal
import subprocess
import time
import types

import pytest
from lib import local_jobs
from reframe.core.schedulers.local import LocalJobScheduler
from reframe.frontend.executors import policies

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


@pytest.mark.beside
def test_a_clock_that_is_set_back_holds_nothing_up(monkeypatch):
    """By a day: the program had ended, and ReFrame would have looked again on the next day."""
    slept, clock = [], [1e9]
    passing = types.SimpleNamespace(time=lambda: clock[0], sleep=lambda s: (
        slept.append(s), clock.__setitem__(0, clock[0] + s)))  # fmt: skip
    monkeypatch.setattr(policies, 'time', passing)
    monkeypatch.setattr(local_jobs, 'time', passing)
    controller = policies._PollController.__new__(policies._PollController)
    vars(controller).update(
        _poll_rate_max=10, _poll_rate_min=0.1, _poll_rate_decay=0.1, _poll_count_total=0,
        _poll_randomize_range_ms=None, _poll_count_interval=0, _desired_poll_rate=10,
        _t_start=None, _t_last_reset=None)  # fmt: skip
    for _ in range(3):
        local_jobs.snooze_by_this_clock(controller)
    clock[0] -= 86400
    for _ in range(3):
        local_jobs.snooze_by_this_clock(controller)
    assert len(slept) == 6 and 0 < max(slept) < 10
