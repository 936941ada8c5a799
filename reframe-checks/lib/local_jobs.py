"""ReFrame's jobs, without what the end of local ones does to others, and a clock that is set to
all."""

import contextlib
import os
import signal
import time

from reframe.core.schedulers.local import LocalJobScheduler
from reframe.frontend.executors.policies import _PollController


def kill_own_alone(scheduler, job):
    """LocalJobScheduler._kill_all as in ReFrame 4.10, but for its last line and that it waits.

    There `os.waitpid(0, 0)` follows, for any child of ReFrame's process group. The job itself has
    been waited for, and has a session of its own; what is waited for are the `scp` and `ssh` of a
    job of the ssh scheduler. A build that ends beside one thus holds everything up until that is
    over, and takes its exit status away: "failed with exit code None", nothing measured.

    Nor has a job that is ended early, by its time limit or with ReFrame, two seconds there: the
    script dies of SIGTERM at once, and the program, which saves what it measured, with it.
    """
    if job.cancel_time:
        gone = max(0, time.time() - job.cancel_time)
        let_end(job, scheduler.CANCEL_GRACE_PERIOD - gone)
    scheduler.log(f'sending SIGKILL to process group {job.jobid}')
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or no more ours
        os.killpg(int(job.jobid), signal.SIGKILL)
    job.f_stdout.close()
    job.f_stderr.close()


def let_end(job, seconds):
    """Until no process of the job is left, or so long; the clock may be set meanwhile."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < until:
            os.killpg(int(job.jobid), 0)
            time.sleep(0.02)


def snooze_by_this_clock(controller, snooze=_PollController.snooze):
    """_PollController.snooze as in ReFrame 4.10, which after the clock was set back would sleep as
    long as that: between two looks at a job that may have ended long ago."""
    now = time.time()
    if controller._t_last_reset is not None and now < controller._t_last_reset:
        controller._t_start = now
        controller.reset_poll_rate()
    snooze(controller)


def end_alone():
    """For the local jobs of this session."""
    LocalJobScheduler._kill_all = kill_own_alone
    _PollController.snooze = snooze_by_this_clock
