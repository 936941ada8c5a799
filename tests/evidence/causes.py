"""How often the cause of a made-up slow node is named rightly: each alone, in pairs, and none.

python tests/evidence/causes.py [TRIALS] >tests/evidence/causes.csv     for docs/evidence.md
"""

import csv
import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / 'lib'))
import made_up_nodes as made  # noqa: E402

PEERS = 12
NOISES = (0.005, 0.01, 0.02)
WORDS = ('right', 'one of two', 'not known', 'not low', 'wrong')


def of(planted, names, rng, noise, trials):
    """How many of the trials ended in each of WORDS; of no cause, 'right' is PASS, or no cause."""
    counts = Counter()
    allowed = set(names).union(*(made.ALSO.get(name, ()) for name in names))

    def factor():
        return 1 + noise * rng.standard_normal()

    peers = [made.node(f'p{i}', noise=factor) for i in range(PEERS)]
    for _ in range(trials):
        judged = made.word(made.node(noise=factor, **planted), peers)
        found = {cause.name for cause in judged.causes}
        if not any(one.verdict.metric for one in judged.compared):
            counts['not low' if names else 'right'] += 1
        elif found - allowed:
            counts['wrong'] += 1
        elif {*names} <= found:
            counts['right'] += 1
        else:
            counts['one of two' if found & {*names} else 'not known'] += 1
    return counts


def both(one, other):
    """Two causes at a time: the shares multiply."""
    names = {**one.get('shares', {}), **other.get('shares', {})}
    shares = {
        n: one.get('shares', {}).get(n, 1) * other.get('shares', {}).get(n, 1) for n in names
    }
    merged = {k: {**one.get(k, {}), **other.get(k, {})} for k in ('facts', 'counted')}
    return {'shares': shares, **merged}


def cases():
    """(kind, planted, names of its causes)."""
    named = [(name.split(',')[0], planted) for name, (planted, _) in made.PLANTED.items()]
    yield 'none', {}, ()
    yield from (('alone', planted, (name,)) for name, planted in named)
    for (a, one), (b, other) in itertools.combinations(named, 2):
        if a != b:
            yield 'in pairs', both(one, other), (a, b)


def table(trials, noises=NOISES, seed=1):
    """{(kind, noise): counts}."""
    rng, every = np.random.default_rng(seed), {}
    for noise in noises:
        for kind, planted, names in cases():
            for _ in range(20 if kind == 'none' else 1):  # with peers of their own
                counts = of(planted, names, rng, noise, trials)
                every.setdefault((kind, noise), Counter()).update(counts)
    return every


if __name__ == '__main__':
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(['cause', 'noise', *WORDS])
    for (kind, noise), counts in table(int(sys.argv[1]) if sys.argv[1:] else 50).items():
        shares = (f'{100 * counts[word] / counts.total():.1f} %' for word in WORDS)
        out.writerow([kind, f'{100 * noise:g} %', *shares])
