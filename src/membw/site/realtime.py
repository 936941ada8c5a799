"""Real-time priority: other processes wait for their CPUs while a case is measured.

`nice` does not do it: where the kernel groups processes by session (autogroup), it counts within
one session only.  The kernel keeps 5 % of each second for other processes, unless
kernel.sched_rt_runtime_us says otherwise.
"""

import subprocess

from membw.errors import MembwError

WORDS = ['-S', 'realtime=1']  # a variable of reframe-checks/lib/at_realtime.py
COMMAND = ['chrt', '--fifo', '1']
HINT = 'root may, and users with an rtprio in limits.conf'


def permitted() -> bool:
    """Whether a process of this user may have it, here."""
    try:
        return subprocess.run([*COMMAND, 'true'], capture_output=True).returncode == 0
    except OSError:
        return False


def words(wanted: bool, is_local: bool) -> list[str]:
    """Options of ReFrame; on a node of a cluster the job finds out whether it may."""
    if wanted and is_local and not permitted():
        raise MembwError('real-time priority is not permitted here', HINT)
    return WORDS if wanted else []
