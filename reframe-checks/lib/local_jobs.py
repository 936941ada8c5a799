"""A patch of ReFrame 4.10: the end of a local job leaves other processes alone.

The one private function of ReFrame that is replaced: LocalJobScheduler._kill_all ends with
`os.waitpid(0, 0)`, for any child of ReFrame. With the ssh scheduler (cards) these are the `ssh` of
jobs: a build that ends next to one waits for it and takes its exit status away, and that job is
"failed with exit code None". Another version of ReFrame keeps its own function, and
tests/checks/test_local_jobs.py says then whether it still waits for all.
"""

import contextlib
import os
import signal

import reframe
from reframe.core.schedulers import Job, JobScheduler
from reframe.core.schedulers.local import LocalJobScheduler

VERSION = '4.10.'


def kill_own_alone(scheduler: JobScheduler, job: Job) -> None:
    """_kill_all without its last line: the job itself has already been waited for."""
    scheduler.log(f'sending SIGKILL to process group {job.jobid}')
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or no more ours
        os.killpg(int(job.jobid), signal.SIGKILL)
    job.f_stdout.close()
    job.f_stderr.close()


def end_alone() -> None:
    """For the local jobs of this session."""
    if reframe.VERSION.startswith(VERSION):
        LocalJobScheduler._kill_all = kill_own_alone
