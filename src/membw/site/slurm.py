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
