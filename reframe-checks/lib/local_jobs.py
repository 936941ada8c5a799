"""ReFrame's local jobs, without what their end does to jobs on other nodes."""

import contextlib
import os
import signal

from reframe.core.schedulers.local import LocalJobScheduler


def kill_own_alone(scheduler, job):
    """LocalJobScheduler._kill_all as it stands in ReFrame 4.10, but for its last line.

    There `os.waitpid(0, 0)` follows, for any child of ReFrame's process group. The job itself has
    been waited for, and has a session of its own; what is waited for are the `scp` and `ssh` of a
    job of the ssh scheduler. A build that ends beside one thus holds everything up until that is
    over, and takes its exit status away: "failed with exit code None", nothing measured.
    """
    scheduler.log(f'sending SIGKILL to process group {job.jobid}')
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or no more ours
        os.killpg(int(job.jobid), signal.SIGKILL)
    job.f_stdout.close()
    job.f_stderr.close()


def end_alone():
    """For the local jobs of this session."""
    LocalJobScheduler._kill_all = kill_own_alone
