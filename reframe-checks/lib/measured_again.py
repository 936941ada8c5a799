"""One further measurement: a job of the nodes that were LOW and of healthy ones beside them."""

import contextlib
import subprocess

LIMIT_S = 1800  # for it to begin and end


def measure(stage: str, script: str, nodes: list[str], number: int) -> None:
    """Submits the job script of the first measurement and waits until it has ended.

    Args:
        stage: its folder, where the program writes the same files as before.
        number: 1, 2, ...: the job prints to again-NUMBER.out and .err.
    """
    words = [
        'sbatch', '--wait', '--parsable', f'--nodelist={",".join(nodes)}',
        f'--nodes={len(nodes)}', f'--ntasks={len(nodes)}', '--ntasks-per-node=1',
        f'--output=again-{number}.out', f'--error=again-{number}.err', script,
    ]  # fmt: skip
    with subprocess.Popen(
        words, cwd=stage, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        job = process.stdout.readline().split(';')[0].strip()
        try:
            process.wait(LIMIT_S)
        except BaseException as err:
            process.kill()
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(['scancel', job], timeout=60, capture_output=True)
            if not isinstance(err, subprocess.TimeoutExpired):
                raise
