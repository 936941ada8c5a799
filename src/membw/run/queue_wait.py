"""What a session waits for: jobs of ReFrame that Slurm has not begun, and why."""

import contextlib
import getpass
import subprocess
import threading

from membw.progress import say
from membw.site import slurm

LOOK_S = 60  # a node that is idle begins a job within seconds
HINT = ("hint: 'sinfo -R' says why nodes are down; '-S max_pending_time=1h' (or that key of the "
        'partition in its file) ends the wait, NOT MEASURED')  # fmt: skip


def pending():
    """{job: reason} of this user's jobs that ReFrame named."""
    words = ['squeue', '-h', '-t', 'PD', '-u', getpass.getuser(), '-o', '%i|%j|%r']
    try:
        said = subprocess.run(words, capture_output=True, text=True, errors='replace', timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = [line.split('|', 2) for line in said.stdout.splitlines()]
    return {row[0]: row[2] for row in rows if len(row) == 3 and row[1].startswith('rfm_')}


def lines(now, before):
    """One for each reason; nothing of jobs that wait for what they waited for before."""
    new = {job: why for job, why in now.items() if before.get(job) != why}
    for why in dict.fromkeys(new.values()):
        jobs = [job for job, reason in new.items() if reason == why]
        yield f'job {", ".join(jobs)} waits in the queue: {why}'


@contextlib.contextmanager
def told(partitions):
    """While a session runs: it would be silent for as long as all nodes are down."""
    if not any(part['scheduler'] in slurm.SCHEDULERS for part in partitions):
        yield
        return
    ended = threading.Event()
    teller = threading.Thread(target=tell, args=(ended,), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()


def tell(ended):
    before, hint = {}, HINT
    while not ended.wait(LOOK_S):
        now = pending()
        for line in lines(now, before):
            say(line)
            if hint:
                say(hint)
            hint = ''
        before |= now
