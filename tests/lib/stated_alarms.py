"""What `membw calibrate` states of false alarms, and what comes, under noise of many shapes.

A table in Markdown: `python tests/lib/stated_alarms.py [calibrations per row] [part of a name]`;
docs/judging.md shows it.  Rows marked `held back` were not looked at while the method was chosen,
those marked `fresh` were first run when it stood, those marked `last` when what sets no tolerance
was judged as `membw rank` does.
"""

import sys

import numpy as np

from membw.calibrate.samples import Samples
from membw.statistics import tolerance
from membw.statistics.tolerance import Refusal, Rule, propose

KERNELS = ('copy', 'scale', 'add', 'triad')


def normal(rng, shape):
    return rng.standard_normal(shape)


def far_tails(rng, shape):
    return rng.standard_t(3, shape) / np.sqrt(3)


def left(rng, shape, s=0.7):
    raw = np.exp(s * rng.standard_normal(shape))
    return -(raw - np.exp(s * s / 2)) / np.sqrt((np.exp(s * s) - 1) * np.exp(s * s))


def left_gamma(rng, shape):
    return -(rng.gamma(2, 1, shape) - 2) / np.sqrt(2)


def laplace(rng, shape):
    return rng.laplace(0, 1 / np.sqrt(2), shape)


def left_gumbel(rng, shape):
    return -(rng.gumbel(0, 1, shape) - 0.5772) / 1.2825


def left_exponential(rng, shape):
    return 1 - rng.exponential(1, shape)


def two_modes(rng, shape):
    """One in ten 2.5 lower."""
    return (0.25 - 2.5 * (rng.random(shape) < 0.1) + 0.6 * rng.standard_normal(shape)) / 0.96


def uniform(rng, shape):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)


def left_weibull(rng, shape):
    return -(rng.weibull(1.5, shape) - 0.9027) / 0.6129


def logistic(rng, shape):
    return rng.logistic(0, np.sqrt(3) / np.pi, shape)


def late_tenth(rng, shape):
    """One in ten besides low by an exponential loss three times the spread of the others."""
    late = (rng.random(shape) < 0.1) * rng.exponential(3, shape)
    return (rng.standard_normal(shape) - late + 0.3) / 1.645


def tenth_wide(rng, shape):
    """One in ten three times as wide."""
    return np.where(rng.random(shape) < 0.1, 3, 1) * rng.standard_normal(shape) / np.sqrt(1.8)


def left_skew_t(rng, shape):
    low = 0.8944 * np.abs(rng.standard_normal(shape)) + 0.4472 * rng.standard_normal(shape)
    return -(low / np.sqrt(rng.chisquare(4, shape) / 4) - 0.8944) / 1.0954


# name: shape, spread of nodes, of runs, of nights (%), nodes, nights, share of nodes at -4 %
ROWS = {
    'normal .4/.4 %, 60 x 5': (normal, 0.4, 0.4, 0, 60, 5, 0),
    'normal 1/1 %, 100 x 5': (normal, 1, 1, 0, 100, 5, 0),
    'normal 1/1 %, 100 x 1': (normal, 1, 1, 0, 100, 1, 0),
    'normal 2/2 %, 100 x 5': (normal, 2, 2, 0, 100, 5, 0),
    't3 1/1 %, 100 x 5': (far_tails, 1, 1, 0, 100, 5, 0),
    'left lognormal 1/1 %, 100 x 5': (left, 1, 1, 0, 100, 5, 0),
    'fleet shifts .5 % a night, 100 x 1': (normal, 0.4, 0.4, 0.5, 100, 1, 0),
    'fleet shifts 1 %, 100 x 1': (normal, 0.4, 0.4, 1, 100, 1, 0),
    'fleet shifts 1 %, 60 x 3': (normal, 0.4, 0.4, 1, 60, 3, 0),
    'fleet shifts .5 %, 100 x 10': (normal, 0.4, 0.4, 0.5, 100, 10, 0),
    'a second kit, 5 % at -4 %, 100 x 3': (normal, 0.4, 0.4, 0, 100, 3, 0.05),
    'held back: left gamma 1/.7 %, 80 x 4': (left_gamma, 1, 0.7, 0, 80, 4, 0),
    'held back: Laplace .8/.8 %, 120 x 3': (laplace, 0.8, 0.8, 0, 120, 3, 0),
    'held back: left lognormal .5/.5, shifts .3 %, 90 x 7': (left, 0.5, 0.5, 0.3, 90, 7, 0),
    'held back: t3 .5/.5, shifts .7 %, 70 x 5': (far_tails, 0.5, 0.5, 0.7, 70, 5, 0),
    'fresh: left Gumbel .8/.8 %, 60 x 8': (left_gumbel, 0.8, 0.8, 0, 60, 8, 0),
    'fresh: left exponential .6/.6, shifts .4 %, 80 x 6': (
        left_exponential, 0.6, 0.6, 0.4, 80, 6, 0),
    'fresh: two modes .6/.6 %, 100 x 4': (two_modes, 0.6, 0.6, 0, 100, 4, 0),
    'fresh: uniform 1.2/.5, shifts .5 %, 50 x 12': (uniform, 1.2, 0.5, 0.5, 50, 12, 0),
    'fresh: t3 .7/.3 %, 150 x 2': (far_tails, 0.7, 0.3, 0, 150, 2, 0),
    'fresh: left lognormal .7/.7, shifts .6 %, 120 x 4': (left, 0.7, 0.7, 0.6, 120, 4, 0),
    'last: left Weibull .9/.6 %, 90 x 5': (left_weibull, 0.9, 0.6, 0, 90, 5, 0),
    'last: logistic .7/.7, shifts .4 %, 110 x 8': (logistic, 0.7, 0.7, 0.4, 110, 8, 0),
    'last: a tenth late .5/.5 %, 100 x 5': (late_tenth, 0.5, 0.5, 0, 100, 5, 0),
    'last: a tenth three times as wide .8/.5 %, 140 x 2': (tenth_wide, 0.8, 0.5, 0, 140, 2, 0),
    'last: left skew t4 .8/.6 %, 75 x 6': (left_skew_t, 0.8, 0.6, 0, 75, 6, 0),
    'last: normal .5/.4, shifts .3 %, 3 % at -4 %, 200 x 4': (
        normal, 0.5, 0.4, 0.3, 200, 4, 0.03),
}  # fmt: skip


def draw(rng, row, nodes, nights):
    """(nodes * nights) x kernels: node by node, night by night."""
    shape, of_node, of_run, of_night, _, _, kit = row
    found = 1 + of_node / 100 * np.repeat(shape(rng, (nodes, 1)), nights, axis=0)
    found = found + of_run / 100 * shape(rng, (nodes * nights, len(KERNELS)))
    found = found * (1 + of_night / 100 * np.tile(rng.standard_normal((nights, 1)), (nodes, 1)))
    found[: round(kit * nodes) * nights] *= 0.96
    return 160 * found


def samples(rates, nodes, nights):
    names = [f'n{i:03}' for i in range(nodes) for _ in range(nights)]
    times = [1.76e9 + 86400.0 * (i % nights) for i in range(len(rates))]
    return Samples(('synthetic:node', 'gcc-o2', 'likwid'), KERNELS, names, times, rates)


def true_alarms(rng, row, proposal):
    """Of new nodes in new nights: many fleets of one night each."""
    tests = [draw(rng, row, 50, 1) for _ in range(400)]
    ratio = np.concatenate(tests) / [proposal.kernels[k].median for k in KERNELS] - 1
    low, high = ([getattr(proposal.kernels[k], side) for k in KERNELS] for side in ('low', 'high'))
    return ((ratio < low) | (ratio > high)).any(axis=1).mean()


def row_of(name, number, times, rule):
    row, refused, true, stated, most, holds = ROWS[name], 0, [], [], [], 0
    for seed in range(times):
        rng = np.random.default_rng([number, seed])
        try:
            found = propose(samples(draw(rng, row, *row[4:6]), *row[4:6]), rule)
        except Refusal:
            refused += 1
            continue
        true.append(100 * true_alarms(rng, row, found))
        low, high = found.alarms[1], found.alarms[2]
        stated.append(100 * found.alarms[0])
        most.append(None if high is None else 100 * high)
        holds += 100 * low <= true[-1] + 0.01 and (high is None or true[-1] <= 100 * high + 0.01)
    if not true:
        return f'| {name} | refused: all | | | | |'
    five, ninety = np.percentile(true, [5, 95])
    upper = 'not known' if None in most else f'{np.median(most):.2f}'
    share = f'{100 * holds / len(true):.0f} %' if upper != 'not known' else '(not stated)'
    return (
        f'| {name} | {np.median(true):.2f} [{five:.2f}, {ninety:.2f}] | {np.median(stated):.2f} '
        f'| {upper} | {share} | {100 * refused / times:.0f} % |'
    )


def main(times=40, only=''):
    tolerance.DRAWS = 300
    rule = Rule(widest=0.5)
    print('| truth (nodes/runs) | true false alarms % | stated | at most | holds | refused |')
    print('|---|---|---|---|---|---|')
    for number, name in ((n, name) for n, name in enumerate(ROWS) if only in name):
        print(row_of(name, number, int(times), rule), flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
