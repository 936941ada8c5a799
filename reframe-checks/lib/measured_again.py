"""One further measurement: a job of the nodes that were LOW and of healthy ones with them."""

import subprocess
import time

from lib import slurm_nodes

LIMIT_S = 1800  # for it to begin and end


def measure(stage: str, script: str, nodes: list[str], number: int) -> None:
    """Submits the job script of the first measurement and waits until it has ended; `sbatch
    --wait` looks after 2, 10, 42 s.

    Args:
        stage: its folder, where the program writes the same files as before.
        number: 1, 2, ...: the job prints to again-NUMBER.out and .err.
    """
    words = [
        'sbatch', '--parsable', f'--nodelist={",".join(nodes)}',
        f'--nodes={len(nodes)}', f'--ntasks={len(nodes)}', '--ntasks-per-node=1',
        f'--output=again-{number}.out', f'--error=again-{number}.err', script,
    ]  # fmt: skip
    done = subprocess.run(words, cwd=stage, capture_output=True, text=True)
    job = done.stdout.split(';')[0].strip()
    if done.returncode != 0 or not job:
        return
    until = time.monotonic() + LIMIT_S
    try:
        while slurm_nodes.is_under_way(job) and time.monotonic() < until:
            time.sleep(1)
    finally:  # where it has ended, this does nothing
        subprocess.run(['scancel', job], timeout=60, capture_output=True)
