"""What the end of a local job of ReFrame does to what else it started."""

import subprocess
import types

import pytest
from lib import local_jobs
from reframe.core.schedulers.local import LocalJobScheduler


def exit_status_is_lost(tmp_path):
    """Of another child of this process, when a local job ends."""
    other = subprocess.Popen(['sh', '-c', 'exit 3'])
    process = subprocess.Popen(['true'], start_new_session=True)
    files = {f'f_{name}': (tmp_path / name).open('w') for name in ('stdout', 'stderr')}
    job = types.SimpleNamespace(jobid=process.pid, _jobid=process.pid, _proc=process,
                                _state='RUNNING', cancel_time=None, time_limit=None,
                                submit_time=0, **files)  # fmt: skip
    scheduler = LocalJobScheduler()
    while not getattr(job, '_exitcode', None) == 0:
        scheduler.poll(job)
    return other.wait() != 3


@pytest.mark.beside
@pytest.mark.parametrize('is_replaced', [True, False])
def test_the_end_of_a_local_job_takes_no_other_exit_status(monkeypatch, tmp_path, is_replaced):
    """Where ReFrame's own function leaves them alone, too, lib/local_jobs.py can go."""
    monkeypatch.setattr(LocalJobScheduler, '_kill_all', LocalJobScheduler._kill_all)
    if is_replaced:
        local_jobs.end_alone()
    # ReFrame's own takes it only where the other process ends first: five tries
    lost = any(exit_status_is_lost(tmp_path) for _ in range(1 if is_replaced else 5))
    assert lost != is_replaced
