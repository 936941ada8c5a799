"""Slurm as ReFrame knows it."""

import functools
import shutil
import subprocess

# with and without accounting; as `scheduler` of a partition
SCHEDULERS = ('slurm', 'squeue')
LIMIT_S = 20
# states of a node that takes a job now, or once it has booted (~ powered down, # booting)
AVAILABLE = ('idle', 'idle~', 'idle#')


@functools.cache
def lacks_accounting() -> bool:
    """Whether a Slurm is here whose `sacct` says that it stores nothing; ReFrame waits for jobs
    by sacct, unless its backend is `squeue`."""
    if not (shutil.which('sbatch') and shutil.which('sacct')):
        return bool(shutil.which('sbatch'))
    try:
        done = subprocess.run(
            ['sacct', '-n', '-X', '-S', 'now'], capture_output=True, text=True, timeout=LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode != 0 and 'disabled' in done.stderr


def queue(access: list[str]) -> list[str]:
    """The words of a partition's `access` that sinfo understands as well: its queue."""
    words = [word for option in access for word in option.split()]
    for word, following in zip(words, [*words[1:], ''], strict=True):
        if word in ('-p', '--partition'):
            return ['-p', following]
        if word.startswith('--partition='):
            return ['-p', word.partition('=')[2]]
    return []
