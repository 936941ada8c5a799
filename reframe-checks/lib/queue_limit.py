"""Limits the time in a queue: else a partition that is down would go unnoticed."""

import subprocess

import reframe as rfm
from reframe.core.builtins import run_after
from reframe.core.schedulers import Job

from membw.site import slurm


class queue_limit(rfm.RegressionTestPlugin):
    """For a test whose job goes to a scheduler: ReFrame cancels it when that time is over."""

    @run_after('setup')
    def wait_no_longer(self) -> None:
        """By the partition's file, unless `-S max_pending_time=1h` says otherwise."""
        limit = self.current_partition.extras.get('max_pending_time')
        if limit and self.max_pending_time is None:
            self.max_pending_time = limit


def never_begun(job: Job, scheduler: str) -> str:
    """The message for a job that never started, with the scheduler's reason if known."""
    limit = f' for {job.max_pending_time:g} s (max_pending_time)' if job.max_pending_time else ''
    why = reason(job, scheduler)
    return f'job {job.jobid} waited{limit} and was cancelled before it started{why}'


def reason(job: Job, scheduler: str) -> str:
    if scheduler not in slurm.SCHEDULERS:
        return ''
    words = ['scontrol', '-o', 'show', 'job', str(job.jobid)]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ''
    why = said.partition(' Reason=')[2].partition(' Dependency=')[0].split(' ')[0]
    return f': {why.replace("_", " ")}' if why not in ('', 'None') else ''
