"""What the end of a local job of ReFrame does to what else it started."""

import multiprocessing
import pathlib
import subprocess
import types
from concurrent.futures import ProcessPoolExecutor

import pytest
from lib import batch_job
from reframe.core.backends import getlauncher
from reframe.core.schedulers import Job
from reframe.core.schedulers.local import LocalJobScheduler

pytestmark = pytest.mark.alone


def exit_status_of_another_child(folder: pathlib.Path, is_replaced: bool) -> int:
    """Of a child that exits with 3, after a local job has ended."""
    if is_replaced:
        batch_job.mend_jobs()
    other = subprocess.Popen(['sh', '-c', 'exit 3'])
    process = subprocess.Popen(['true'], start_new_session=True)
    files = {f'f_{name}': (folder / name).open('w') for name in ('stdout', 'stderr')}
    job = types.SimpleNamespace(
        jobid=process.pid, _jobid=process.pid, _proc=process, _state='RUNNING', _exitcode=None,
        cancel_time=None, time_limit=None, submit_time=0, name='rfm_x',
        state='', **files)  # fmt: skip
    scheduler = LocalJobScheduler()
    while job._exitcode is None:
        scheduler.poll(job)
    return other.wait()


@pytest.mark.parametrize('is_replaced', [True, False])
def test_the_end_of_a_local_job_takes_no_other_exit_status(tmp_path, is_replaced):
    """Where ReFrame's own function leaves them alone, too, kill_own_alone can go."""
    # a process of its own: ReFrame's function takes any child, one of pytest's as well
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('spawn')) as pool:
        status = pool.submit(exit_status_of_another_child, tmp_path, is_replaced).result()
    assert (status == 3) == is_replaced


@pytest.mark.parametrize('name, is_kept', [('rfm_stream', True), ('rfm_build_stream', False)])
def test_what_a_job_wrote_before_its_time_limit_is_read(tmp_path, monkeypatch, name, is_kept):
    """Where ReFrame's own job has no error without us, poll() can go."""
    for ours in ('poll', '_kill_all'):
        monkeypatch.setattr(LocalJobScheduler, ours, getattr(LocalJobScheduler, ours))
    batch_job.mend_jobs()
    scheduler = LocalJobScheduler()
    job = Job.create(scheduler, getlauncher('local')(), name=name, workdir=str(tmp_path))
    process = subprocess.Popen(['sleep', '60'], start_new_session=True)
    job._jobid, job._proc, job._state = process.pid, process, 'RUNNING'
    job._f_stdout, job._f_stderr = ((tmp_path / stream).open('w') for stream in ('out', 'err'))
    job.time_limit, job._submit_time = '1s', 0
    while not scheduler.finished(job):
        scheduler.poll(job)
    assert job.state == 'TIMEOUT' and (job.exception is None) == is_kept
