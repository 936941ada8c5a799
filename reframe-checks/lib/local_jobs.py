"""Two patches of ReFrame's local jobs: the end of one leaves other processes alone, and what was
measured before its time limit is read.

The one private function of ReFrame that is replaced: LocalJobScheduler._kill_all ends with
`os.waitpid(0, 0)`, for any child of ReFrame. With the ssh scheduler (cards) these are the `ssh` of
jobs: a build that ends next to one waits for it and takes its exit status away, and that job is
"failed with exit code None", or one that failed reads 0. It is judged by its code: 4.10 and
4.11.0-dev1 wait so; tests/checks/test_local_jobs.py says when ReFrame's own may stay.
"""

import contextlib
import inspect
import os
import signal

from reframe.core.schedulers import Job, JobScheduler
from reframe.core.schedulers.local import LocalJobScheduler

WAITS_FOR_ALL = 'waitpid(0'


def kill_own_alone(scheduler: JobScheduler, job: Job) -> None:
    """_kill_all without its last line: the job itself has already been waited for."""
    scheduler.log(f'sending SIGKILL to process group {job.jobid}')
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or no more ours
        os.killpg(int(job.jobid), signal.SIGKILL)
    job.f_stdout.close()
    job.f_stderr.close()


def end_alone() -> None:
    """For the local jobs of this session."""
    if WAITS_FOR_ALL in inspect.getsource(LocalJobScheduler._kill_all):
        LocalJobScheduler._kill_all = kill_own_alone


def judge_at_the_limit() -> None:
    """A job that reaches its time limit ends as under Slurm: with the state TIMEOUT, and what it
    wrote is read. ReFrame raises an error in its place, and reads nothing."""
    poll = LocalJobScheduler.poll

    def polled(scheduler: JobScheduler, *jobs: Job) -> None:
        poll(scheduler, *jobs)
        for job in filter(None, jobs):
            if job.state == 'TIMEOUT' and not job.name.startswith('rfm_build'):
                job._exception = None

    LocalJobScheduler.poll = polled
