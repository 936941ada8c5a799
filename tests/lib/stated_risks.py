"""Stated and true risks of an acceptance under noise of other shapes than the one assumed.

A table in Markdown: `python tests/lib/stated_risks.py [tests per row] [nights] [part of a name]`;
docs/judging.md shows it.  Rows marked `seen late` were printed while the method was chosen, those
marked `fresh` were first run when it stood, those marked `last` when the bound by number did, too.
"""

import sys

import numpy as np

from membw.accept.rule import Run, decide
from membw.statistics import risk

GBS = 300.0
DAY_S = 86400.0


def normal(rng, shape, sd):
    return rng.normal(0, sd, shape)


def far_tails(rng, shape, sd):
    """Student's t, three degrees of freedom, of this standard deviation."""
    return sd / np.sqrt(3) * rng.standard_t(3, shape)


def left(rng, shape, sd, s=0.7):
    """Lognormal, turned round: now and then far low."""
    raw = np.exp(s * rng.standard_normal(shape))
    mean, spread = np.exp(s * s / 2), np.sqrt((np.exp(s * s) - 1) * np.exp(s * s))
    return -sd * (raw - mean) / spread


def laplace(rng, shape, sd):
    return rng.laplace(0, sd / np.sqrt(2), shape)


def left_gamma(rng, shape, sd):
    return -sd * (rng.gamma(2, 1, shape) - 2) / np.sqrt(2)


def left_exponential(rng, shape, sd):
    return -sd * (rng.exponential(1, shape) - 1)


def two_modes(rng, shape, sd):
    """One run in ten 2.5 sd low."""
    low = rng.random(shape) < 0.1
    raw = np.where(low, -2.5, 0.25) + 0.6 * rng.standard_normal(shape)
    return sd * raw / raw.std()


def left_gumbel(rng, shape, sd):
    return -sd * (rng.gumbel(0, 1, shape) - 0.5772) / 1.2825


def left_weibull(rng, shape, sd):
    return -sd * (rng.weibull(1.3, shape) - 0.9236) / 0.7163


# name: (noise of a run, of a night of a node, nodes, protocol's changes, kernels err alike)
ROWS = {
    'normal .5 %, 10 nodes': (normal, 0.005, 0, 10, {}, True),
    'normal .5 %, 100 nodes, 1 allowed': (normal, 0.005, 0, 100, {'allowed': 1}, True),
    'kernels independent, 100 nodes': (normal, 0.005, 0, 100, {}, False),
    't3 .5 %, 10 nodes': (far_tails, 0.005, 0, 10, {}, True),
    'normal, worst of 5, no retest, 100, 2 allowed': (
        normal, 0.005, 0, 100,
        {'allowed': 2, 'repetitions': 5, 'statistic': 'worst', 'rounds': 0, 'good': 0.0141}, True),
    'left lognormal, same, good +2 %': (
        left, 0.0055, 0, 100,
        {'allowed': 2, 'repetitions': 5, 'statistic': 'worst', 'rounds': 0, 'good': 0.02}, True),
    'night .2 + run .4 %, 100 nodes': (normal, 0.004, 0.002, 100, {}, True),
    'night .3 + run .3 %, 100 nodes': (normal, 0.003, 0.003, 100, {}, True),
    'night .5 + run .2 %, 10 nodes': (normal, 0.002, 0.005, 10, {}, True),
    'seen late: Laplace .5 %, 40 nodes': (laplace, 0.005, 0, 40, {}, True),
    'seen late: left gamma .6 %, worst of 3, 60 nodes, 1 allowed': (
        left_gamma, 0.0045, 0, 60,
        {'allowed': 1, 'statistic': 'worst', 'rounds': 0, 'good': 0.015}, True),
    'seen late: two modes .5 %, 30 nodes': (two_modes, 0.005, 0, 30, {}, True),
    'seen late: night t3 .4 + run .3 %, 50 nodes': (far_tails, 0.003, 0.004, 50, {}, True),
    'fresh: left exponential .4 %, best of 3, 24 nodes': (
        left_exponential, 0.004, 0, 24, {'statistic': 'best', 'rounds': 0}, True),
    'fresh: night .35 + Laplace .35 %, median of 5, 64 nodes, 1 allowed': (
        laplace, 0.0035, 0.0035, 64, {'allowed': 1, 'repetitions': 5}, True),
    'last: left Gumbel .5 %, 40 nodes': (left_gumbel, 0.005, 0, 40, {}, True),
    'last: left Weibull, night .3 + run .4 %, 80 nodes, 1 allowed': (
        left_weibull, 0.004, 0.003, 80, {'allowed': 1}, True),
    'last: t3, kernels independent, worst of 3, 30 nodes, good +1.5 %': (
        far_tails, 0.004, 0, 30, {'statistic': 'worst', 'rounds': 0, 'good': 0.015}, False),
    'last: left exponential, night .4 + run .2 %, median of 5, 20 nodes': (
        left_exponential, 0.002, 0.004, 20, {'repetitions': 5}, True),
}  # fmt: skip


def protocol(count, nights, allowed=0, repetitions=3, statistic='median', rounds=1, bad=0.01,
             good=0.005):  # fmt: skip
    return {
        'contract': {'triad': GBS, 'copy': GBS}, 'parties': {}, 'signatures': [],
        'nodes': {'count': count}, 'rule': {'allowed_failures': allowed},
        'runs': {'repetitions': repetitions, 'statistic': statistic, 'nights': nights},
        'retest': {'rounds': rounds, 'repetitions': 5},
        'risk': {'bad_node': bad, 'good_node': good},
        'names': [f'n{i}' for i in range(count)],
    }  # fmt: skip


def deviations(rng, row, nodes, repetitions, nights, tests=1):
    """Of every run of `tests` tests: (tests * nodes) x repetitions x kernels."""
    shape, run, night, _, _, alike = row
    columns = 1 if alike else 2
    of_run = shape(rng, (tests * nodes, repetitions, columns), run)
    of_night = shape(rng, (tests * nodes, nights, 1), night) if night else np.zeros((1, nights, 1))
    share = np.arange(repetitions) * nights // repetitions
    return np.broadcast_to(of_run + of_night[:, share], (tests * nodes, repetitions, 2))


def true_fails(rng, row, agreed, level, draws):
    """P(a node of this level fails for good)."""
    p = 1.0
    tests = [agreed['runs']['repetitions']]
    tests += [agreed['retest']['repetitions']] * agreed['retest']['rounds']
    of = risk.STATISTICS[agreed['runs']['statistic']]
    for repetitions in tests:
        nights = min(agreed['runs'].get('nights', 1), repetitions)
        drawn = deviations(rng, row, draws, repetitions, nights)
        p *= (of((1 + level) * (1 + drawn), axis=1) < 1).any(axis=1).mean()
    return p


def measured(rng, row, agreed):
    """The nodes of a Decision on a good fleet's first tests."""
    count, runs = agreed['nodes']['count'], agreed['runs']
    nights = runs.get('nights', 1)
    drawn = deviations(rng, row, count, runs['repetitions'], nights)
    share = np.arange(runs['repetitions']) * nights // runs['repetitions']
    rows = [
        Run(f'n{i}', float(DAY_S * share[j] + 600 * j),
            {k: GBS * 1.05 * (1 + drawn[i, j, c]) for c, k in enumerate(agreed['contract'])})
        for i in range(count)
        for j in range(runs['repetitions'])
    ]  # fmt: skip
    return decide(agreed, rows).nodes


def holds(rng, name, times, nights=3, draws=400_000):
    """(true, stated, share of `times` in which 'at most' is not below the true one) of buyer and
    vendor; None where nothing is stated."""
    row = ROWS[name]
    repetitions = row[4].get('repetitions', 3)
    agreed = protocol(row[3], min(nights, repetitions), **row[4])
    levels = -agreed['risk']['bad_node'], agreed['risk']['good_node']
    true = risk._two_risks(agreed, *(true_fails(rng, row, agreed, lv, draws) for lv in levels))
    stated = [risk.assess(agreed, measured(rng, row, agreed)) for _ in range(times)]
    found = []
    for party, value in enumerate(true):
        points = [(s.buyer, s.vendor)[party] for s in stated]
        limits = [s.limits and s.limits[party] for s in stated]
        share = None if None in limits else float(np.mean([v >= value - 1e-4 for v in limits]))
        found.append((value, points, limits, share))
    return found


def cell(value, points, limits, share):
    low, high = np.percentile(points, [5, 95])
    text = (
        f'{100 * value:.2f} | {100 * np.median(points):.2f} [{100 * low:.2f} .. {100 * high:.2f}]'
    )
    most = 'not stated' if share is None else f'{100 * np.median(limits):.2f}'
    return f'{text} | {most} | {"-" if share is None else f"{100 * share:.0f} %"}'


def main(times=30, nights=3, only=''):
    times, nights = int(times), int(nights)
    head = 'true % | stated [5 .. 95] | at most | holds'
    print(f'| truth | buyer: {head} | vendor: {head} |')
    print('|---' * 9 + '|')
    for number, name in ((n, name) for n, name in enumerate(ROWS) if only in name):
        rng = np.random.default_rng(number)
        parties = holds(rng, name, times, nights)
        print(f'| {name} | {" | ".join(cell(*p) for p in parties)} |', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
