"""`membw run` without arguments: this machine's bandwidth in 12 seconds, more where it is busy.

One preset of each compiler family, up to three, one thread per core, rounds in turn, built by
make: Spack takes longer to build than the run takes.
"""

import time

from membw.site.programs import chosen

ROUNDS = 3
SECONDS = 0.8  # of repetitions, per preset and round
LIMIT_S = 9  # from its begin; then nothing more is measured


def options(environs: list[str]) -> list[str]:
    """Of ReFrame; `environs`: the names of the presets that this machine can build."""
    rows = ['-n', '^stream%.*pinning=omp', '-p', f'^({"|".join(chosen(environs))})$']
    how = ['-S', f'stream.max_seconds={SECONDS:g}', '-S', 'stream.explain=1']
    return [*rows, *how, '--exec-policy=serial']


def variables() -> dict[str, str]:
    until = time.time() + LIMIT_S
    return {'MEMBW_BUILD': 'make', 'MEMBW_ROUNDS': str(ROUNDS), 'MEMBW_UNTIL': f'{until:.0f}'}
