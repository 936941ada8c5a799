"""`membw run` without arguments: this machine's bandwidth in 12 seconds, more where it is busy.

One preset of each compiler family, up to three, one thread per core, rounds in turn, built by
make: Spack takes longer to build than the run takes.
"""

import time

from membw import presets

MOST = 3  # presets
LEAST = 2
ROUNDS = 3
SECONDS = 0.8  # of repetitions, per preset and round
# of a family, the preset that is measured first
PREFERRED = ('native', 'o3', 'o2')
LIMIT_S = 9  # from its begin; then nothing more is measured


def options(environs: list[str]) -> list[str]:
    """Of ReFrame; `environs`: the names of the presets that this machine can build."""
    rows = ['-n', '^stream%.*pinning=omp', '-p', f'^({"|".join(chosen(environs))})$']
    how = ['-S', f'stream.max_seconds={SECONDS:g}', '-S', 'stream.explain=1']
    return [*rows, *how, '--exec-policy=serial', '--exec-order=name']


def variables() -> dict[str, str]:
    until = time.time() + LIMIT_S
    return {'MEMBW_BUILD': 'make', 'MEMBW_ROUNDS': str(ROUNDS), 'MEMBW_UNTIL': f'{until:.0f}'}


def chosen(environs: list[str]) -> list[str]:
    """One preset of each compiler family, up to MOST; of a single family, LEAST of it."""
    table = presets.load()

    def rank(name: str) -> int:
        options = name.rpartition('-')[2]  # gcc-arm-native is a native one
        return PREFERRED.index(options) if options in PREFERRED else len(PREFERRED)

    families: dict[str, list[str]] = {}
    for name in environs:
        row = table['presets'].get(name)  # None: an environment of the site's own
        if row is None or 'offload' in row['features']:
            continue
        if presets.language(table['families'][row['family']]) == 'c':
            families.setdefault(row['family'], []).append(name)
    ordered = [sorted(names, key=rank) for names in families.values()]
    first = [names[0] for names in ordered]
    more = [name for names in ordered for name in names[1:]]
    return [*first, *more][: min(max(len(first), LEAST), MOST)]
