"""The tables of docs/judging.md, section rank: clean fleets and planted faults, before and after.

    PYTHONPATH=src nice python tests/probes/judging_rank.py CLEAN 100
    PYTHONPATH=src nice python tests/probes/judging_rank.py FAULTS 50 --only exp

"before" is the rule of median and MAD alone.
"""

import argparse
import functools
import time

import numpy as np
from scipy import stats

from membw.rank.fleet import judge
from membw.results import metrics
from membw.results.record import Record
from membw.statistics import populations, robust

MARGIN, ALPHA, UNSTEADY = 0.02, 0.01, 0.05
KERNELS = ('copy', 'scale', 'add', 'triad')
RELATIVE = np.array([0.92, 0.93, 0.99, 1.0])  # of triad
HICCUP = 0.004


def labels_of(totals):
    return populations.find_populations(np.exp(np.log(totals / np.median(totals, 0)).mean(1)))


def judge_low(values):
    """Ratio to the median, one-sided p of each figure in its column; the spread is moderated
    (G. Smyth, SAGMB 3 (2004)): 0.75 % with six degrees of freedom."""
    median, mad = robust.median_mad(values)
    freedom = robust.MAD_EFFICIENCY * (len(values) - 1)
    measured = np.maximum(mad / robust.MAD_TO_SIGMA, robust.FLOOR * median)
    variance = (6 * (0.0075 * median) ** 2 + freedom * measured**2) / (6 + freedom)
    return values / median, stats.t.cdf((values - median) / np.sqrt(variance), 6 + freedom)


def before(rates, steady):
    """(FAIL, parts, slower parts that are told)."""
    count, ranks, _ = rates.shape
    totals, p_node = rates.sum(1), np.ones(count)
    labels = labels_of(totals)
    for part in range(labels.max() + 1):
        i = np.flatnonzero(labels == part)
        columns = [rates[i].reshape(len(i), -1)] if ranks > 1 else []
        ratio, p = judge_low(np.hstack([*columns, totals[i], steady[i, None]]))
        low = ratio < 1 - MARGIN
        low[:, -1] = ratio[:, -1] < 1 - UNSTEADY
        p_node[i] = np.where(low, np.minimum(1, p * p.shape[1]), 1).min(1) if len(i) > 1 else 1
    return stats.false_discovery_control(p_node) <= ALPHA, labels, np.zeros(count, bool)


def after(rates, steady, alpha=ALPHA):
    """What `membw rank` says of these figures; labels are not asked for."""
    kernels = metrics.default(KERNELS)
    ranks = rates.shape[1]
    records = [
        Record(
            f'n{node:05}', node * ranks + rank, len(rates) * ranks, 1.76e9, 'made up',
            dict(zip(KERNELS, of_rank.tolist(), strict=True)), float(steady[node]), (), {}, rank,
            2, 0, metrics=kernels,
        )
        for node, of_node in enumerate(rates)
        for rank, of_rank in enumerate(of_node)
    ]  # fmt: skip
    words = {node.name: node.verdict for node in judge(records, alpha=alpha, now=1.76e9).nodes}
    words = np.array([words[f'n{node:05}'] for node in range(len(rates))])
    return words == 'FAIL', None, words == 'SUSPECT'


# generalized Pareto of the peaks over a threshold, Burr's of incomes, the extremes' of Frechet
LEFT_TAILS = {'pareto': stats.genpareto(0.15), 'burr': stats.burr12(3, 2),
              'extreme': stats.genextreme(-0.1)}  # fmt: skip


def unit(kind, rng, size):
    """Noise with a standard deviation of 1."""
    if kind.startswith('t'):
        freedom = int(kind[1:])
        return rng.standard_t(freedom, size) / np.sqrt(freedom / (freedom - 2))
    if kind == 'lognormal':  # a left tail
        variance = np.exp(0.49) * np.expm1(0.49)
        return -(np.exp(0.7 * rng.normal(0, 1, size)) - np.exp(0.245)) / np.sqrt(variance)
    if kind == 'gamma':
        return (2 - rng.gamma(2, 1, size)) / np.sqrt(2)
    if kind == 'right gamma':
        return -unit('gamma', rng, size)
    if kind == 'contaminated':
        wide = np.where(rng.random(size) < 0.1, 3, 1)
        return wide * rng.normal(0, 1, size) / np.sqrt(1.8)
    if kind == 'gumbel':  # the lowest of many parts
        return -(rng.gumbel(0, 1, size) - 0.5772) / 1.2825
    if kind == 'weibull':
        return -(rng.weibull(1.5, size) - 0.9027) / 0.6129
    if kind == 'weibull2':
        return -(rng.weibull(2, size) - 0.8862) / 0.4633
    if kind == 'skew':  # normal, skewed to the left (alpha = -4)
        low = 0.9701 * np.abs(rng.normal(0, 1, size)) + 0.2425 * rng.normal(0, 1, size)
        return -(low - 0.7740) / 0.6332
    if kind == 'secant':  # hyperbolic
        return 2 / np.pi * np.log(np.tan(np.pi / 2 * rng.uniform(1e-12, 1 - 1e-12, size)))
    if kind == 'uneven':  # some nodes are noisier than others
        own = np.exp(0.4 * rng.normal(0, 1, (size[0], *[1] * (len(size) - 1))))
        return own * rng.normal(0, 1, size) / np.exp(0.16)
    if kind == 'right':  # a few are faster
        return -unit('lognormal', rng, size)
    if kind == 'logistic':
        return rng.logistic(0, np.sqrt(3) / np.pi, size)
    if kind == 'beta':  # left, and ends
        return (rng.beta(5, 2, size) - 5 / 7) / 0.1597
    if kind == 'bins':  # of silicon: three of them, and a little noise
        steps = rng.choice([0.0, -1.0, -2.0], size, p=[0.6, 0.3, 0.1])
        return (steps + 0.5 + 0.3 * rng.normal(0, 1, size)) / 0.73
    if kind in LEFT_TAILS:
        law = LEFT_TAILS[kind]
        return -(law.rvs(size=size, random_state=rng) - law.mean()) / law.std()
    if kind == 'off-centre':  # a fifth of all nodes lower, and as much noisier
        low = rng.random(size) < 0.2
        values = np.where(low, -1.5, 0.375) + np.where(low, 1.5, 0.75) * rng.normal(0, 1, size)
        return values / 1.2134
    if kind == 'skew t':  # of four degrees of freedom, to the left (alpha = -2)
        low = 0.8944 * np.abs(rng.normal(0, 1, size)) + 0.4472 * rng.normal(0, 1, size)
        return -(low / np.sqrt(rng.chisquare(4, size) / 4) - 0.8944) / 1.0954
    if kind == 'half':  # nobody is faster than the peak
        return -(np.abs(rng.normal(0, 1, size)) - 0.798) / 0.603
    draw = {'normal': rng.normal, 'laplace': lambda a, b, n: rng.laplace(0, np.sqrt(0.5), n),
            'uniform': lambda a, b, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n)}  # fmt: skip
    return draw[kind](0, 1, size)


def fleet(rng, n=100, noise=0.005, kind='normal', ranks=1, common=0.5, tail=None):
    """GB/s, nodes x ranks x kernels; `common`: share of the variance that kernels share."""
    x = np.sqrt(common) * unit(kind, rng, (n, ranks, 1))
    x = (x + np.sqrt(1 - common) * unit(kind, rng, (n, ranks, 4))) * noise
    if tail:
        share, mean = tail
        x -= ((rng.random(n) < share) * rng.exponential(mean, n))[:, None, None]
    return np.maximum(320 / ranks * RELATIVE * (1 + x), 1)


def planted(bad=0, loss=0.0, **noise):
    """`loss`: a share, or from where to where; `bad` nodes lose it in all kernels."""

    def make(rng):
        rates = fleet(rng, **noise)
        where = rng.choice(len(rates), bad, replace=False)
        rates[where] *= 1 - (loss if np.isscalar(loss) else rng.uniform(*loss, (bad, 1, 1)))
        return rates, where

    return make


def quantised(step, **noise):
    return lambda rng: (np.round(fleet(rng, **noise) / (step * 320)) * step * 320, [])


def kits(share, apart, bad=0, loss=0.0, **noise):
    def make(rng):
        rates, where = planted(bad, loss, **noise)(rng)
        rates[: int(len(rates) * share)] *= 1 - apart
        return rates, where

    return make


def one_kernel(bad, kernel, loss, **noise):
    def make(rng):
        rates = fleet(rng, **noise)
        where = rng.choice(len(rates), bad, replace=False)
        rates[where, :, kernel] *= 1 - loss
        return rates, where

    return make


def one_rank(loss, **noise):
    def make(rng):
        rates = fleet(rng, **noise)
        rates[0, rng.integers(rates.shape[1])] *= 1 - loss
        return rates, [0]

    return make


def faster(fast, gain, bad, loss, n):
    """`fast` nodes with a gain; those that lose are others where only one is fast."""

    def make(rng):
        rates, order = fleet(rng, n), rng.permutation(n)
        rates[order[:fast]] *= 1 + gain
        where = order[1 : bad + 1] if fast == 1 else rng.choice(n, bad, replace=False)
        rates[where] *= 1 - loss
        return rates, where

    return make


UNEVEN = np.array([0.02, 0.01, 0.003, 0.003])
CLEAN = {
    'normal .5 %': planted(), 'normal 1 %': planted(noise=0.01),
    'normal 3 %': planted(noise=0.03), 'normal 3 %, n = 20': planted(noise=0.03, n=20),
    'exp. tail of 1 % in 10 %': planted(noise=0.003, tail=(0.1, 0.01)),
    'left lognormal .6 %': planted(noise=0.006, kind='lognormal'),
    'left lognormal 1 %': planted(noise=0.01, kind='lognormal'),
    't3, 1 %': planted(noise=0.01, kind='t3'),
    'uniform +-3 %': planted(noise=0.03 / np.sqrt(3), kind='uniform'),
    'kernels 2/1/.3/.3 %': planted(noise=UNEVEN),
    'quantised to .3 %': quantised(0.003), 'quantised to 3 %': quantised(0.03),
    'kits 50/50, 3 %': kits(0.5, 0.03), 'kits 35/65, 4 %': kits(0.35, 0.04),
    'kit on 15 %, -4 %': kits(0.15, 0.04), 'kits 30/70, 4 %, 1 %': kits(0.3, 0.04, noise=0.01),
}  # fmt: skip
SMALL = {f'{s} % n = {n}': planted(n=n, noise=s / 100)
         for s in (1, 2, 3) for n in (2, 3, 4, 5, 6, 8, 10, 20, 50)}  # fmt: skip
# first run when the mild left tail stood in the catalogue
HELD_BACK_2 = {
    'Gumbel, left, 1 %': planted(noise=0.01, kind='gumbel'),
    'Weibull 1.5, left, 1 %': planted(noise=0.01, kind='weibull'),
    'Gumbel 1 %: 5 at -8 %': planted(5, 0.08, noise=0.01, kind='gumbel'),
    'Weibull 1 %: 5 at -6 %': planted(5, 0.06, noise=0.01, kind='weibull'),
    'Weibull 1 %, 40 nodes: 2 at -7 %': planted(2, 0.07, n=40, noise=0.01, kind='weibull'),
}


def scaled(of_nodes, bad=0, loss=0.0, **noise):
    """Nodes that differ by place or kind; `of_nodes`: their factors, of generator and number."""

    def make(rng):
        rates, where = planted(bad, loss, **noise)(rng)
        return rates * of_nodes(rng, len(rates))[:, None, None], where

    return make


def racked(each, spread, *bad, **noise):
    """Racks of so many nodes that differ among each other."""
    return scaled(
        lambda rng, n: np.repeat(1 + rng.normal(0, spread, -(-n // each)), each)[:n], *bad, **noise
    )


def aisle(rise, *bad, **noise):
    """Warmer from one end of the room to the other."""
    return scaled(lambda _, n: 1 - rise * np.linspace(0, 1, n), *bad, **noise)


def racks(share, loss, n=100, noise=0.005, within=0.0):
    """A slow rack whose nodes lose as much, give or take `within`."""
    bad = max(1, round(share * n))
    return planted(bad, (loss - within, loss + within) if within else loss, n=n, noise=noise)


SHARES, LOSSES = (0.05, 0.1, 0.19, 0.2, 0.3, 0.4, 0.5, 0.6), (0.04, 0.05, 0.08, 0.125, 0.25, 0.5)
RACKS = {f'{n} nodes, {s:.0%} at -{100 * x:g} %, noise {sd:.1%}': racks(s, x, n, sd)
         for n, sd in ((100, 0.005), (40, 0.005), (100, 0.01))
         for s in SHARES for x in LOSSES}  # fmt: skip
# first run when all of the rule stood, on 22 November 2026
HELD_BACK_3 = {
    'right lognormal 1 %': planted(noise=0.01, kind='right'),
    'logistic 1 %': planted(noise=0.01, kind='logistic'),
    'logistic 1 %, n = 16': planted(n=16, noise=0.01, kind='logistic'),
    'beta(5, 2) 1.5 %': planted(noise=0.015, kind='beta'),
    'three bins of silicon, .7 %': planted(noise=0.007, kind='bins', common=1.0),
    'racks of 20 that differ by .5 %': racked(20, 0.005, noise=0.005),
    'racks of 10 that differ by 1 %, n = 60': racked(10, 0.01, n=60, noise=0.005),
    'an aisle from 0 to -3 %': aisle(0.03, noise=0.004),
    't3 .5 %, 4 ranks': planted(noise=0.005, kind='t3', ranks=4),
    'left Gumbel 1.5 %, 8 ranks, n = 50': planted(n=50, noise=0.015, kind='gumbel', ranks=8),
    'quantised to 1 %, noise .7 %': quantised(0.01, noise=0.007),
    'quantised to 2 %, left lognormal .8 %': quantised(0.02, noise=0.008, kind='lognormal'),
    't4 1 %, n = 300': planted(n=300, noise=0.01, kind='t4'),
    'left lognormal .5 %, n = 1000': planted(n=1000, noise=0.005, kind='lognormal'),
    'logistic .7 %: 4 at -6 %': planted(4, 0.06, noise=0.007, kind='logistic'),
    'racks of 20 that differ by .5 %: 3 at -5 %': racked(20, 0.005, 3, 0.05, noise=0.005),
    'an aisle from 0 to -3 %: 2 at -8 %': aisle(0.03, 2, 0.08, noise=0.004),
    'beta(5, 2) 1 %: 2 at -6 %': planted(2, 0.06, noise=0.01, kind='beta'),
    'right lognormal 1 %: 3 at -5 %': planted(3, 0.05, noise=0.01, kind='right'),
    't3, 1 %: 3 at -5 %': planted(3, 0.05, noise=0.01, kind='t3'),
    't3, 1 %: 1 at -5 %': planted(1, 0.05, noise=0.01, kind='t3'),
}  # fmt: skip


def noisy_racks(each, share, times, bad=0, loss=0.0, noise=0.005, n=100):
    """A share of the racks has noise that is so many times wider."""

    def make(rng):
        wide = np.where(rng.random(-(-n // each)) < share, times, 1.0)
        own = np.repeat(wide, each)[:n, None, None] * noise
        return planted(bad, loss, n=n, noise=own)(rng)

    return make


def three_kits(apart, *bad, **noise):
    return scaled(lambda rng, n: 1 - apart * rng.integers(0, 3, n), *bad, **noise)


# written before, and first run after, the shapes became Tukey's (22 November 2026)
HELD_BACK_4 = {
    'skew normal, left, 1 %': planted(noise=0.01, kind='skew'),
    'hyperbolic secant 1 %': planted(noise=0.01, kind='secant'),
    'hyperbolic secant .8 %, n = 250': planted(n=250, noise=0.008, kind='secant'),
    'Weibull 2, left, 1.5 %, n = 60': planted(n=60, noise=0.015, kind='weibull2'),
    'a fifth of the racks of 10 three times as noisy, .5 %': noisy_racks(10, 0.2, 3),
    'three kits 1 % apart, noise .5 %': three_kits(0.01),
    'Gumbel, left, .8 %, 16 ranks, n = 30': planted(n=30, noise=0.008, kind='gumbel', ranks=16),
    'logistic .8 %, 16 ranks, n = 30': planted(n=30, noise=0.008, kind='logistic', ranks=16),
    'logistic .6 %, n = 2000': planted(n=2000, noise=0.006, kind='logistic'),
    'skew normal, left, 1 %, n = 2000': planted(n=2000, noise=0.01, kind='skew'),
    'Laplace .7 %, n = 500, all common': planted(n=500, noise=0.007, kind='laplace', common=1.0),
    'normal 1 %, n = 12': planted(n=12, noise=0.01),
    'secant 1 %, n = 12': planted(n=12, noise=0.01, kind='secant'),
    'nodes unlike in noise, 1 %': planted(noise=0.01, kind='uneven'),
    'skew normal 1 %: 3 at -6 %': planted(3, 0.06, noise=0.01, kind='skew'),
    'secant .7 %: 3 at -5 %': planted(3, 0.05, noise=0.007, kind='secant'),
    'Weibull 2, .8 %: 5 at -5 %': planted(5, 0.05, noise=0.008, kind='weibull2'),
    'nodes unlike in noise, .5 %: 3 at -4 %': planted(3, 0.04, noise=0.005, kind='uneven'),
    'right gamma .7 %: 3 at -4 %': planted(3, 0.04, noise=0.007, kind='right gamma'),
    'n = 12, 1 %: 1 at -6 %': planted(1, 0.06, n=12, noise=0.01),
    'logistic .6 %, n = 1000: 10 at -5 %': planted(10, 0.05, n=1000, noise=0.006, kind='logistic'),
    'Gumbel .8 %, 16 ranks, n = 30: one rank -12 %': one_rank(
        0.12, n=30, noise=0.008, kind='gumbel', ranks=16),
}  # fmt: skip
# written before, and first run after, nodes of a tail became SUSPECT (22 November 2026)
HELD_BACK_5 = {
    'generalized Pareto .15, left, 1 %': planted(noise=0.01, kind='pareto'),
    'Burr 3, 2, left, 1 %': planted(noise=0.01, kind='burr'),
    'extreme value .1, left, .8 %': planted(noise=0.008, kind='extreme'),
    'a fifth low and noisier, 1 %': planted(noise=0.01, kind='off-centre'),
    'skew t4, left, 1 %': planted(noise=0.01, kind='skew t'),
    't3 1 %, n = 8': planted(n=8, noise=0.01, kind='t3'),
    't3 1 %, n = 20': planted(n=20, noise=0.01, kind='t3'),
    't3 1 %, n = 40': planted(n=40, noise=0.01, kind='t3'),
    't3 1 %, n = 250': planted(n=250, noise=0.01, kind='t3'),
    'exp. tail of 1 % in 5 %': planted(noise=0.003, tail=(0.05, 0.01)),
    'exp. tail of 2 % in 5 %': planted(noise=0.003, tail=(0.05, 0.02)),
    'exp. tail of 1 % in 20 %': planted(noise=0.003, tail=(0.2, 0.01)),
    'exp. tail of 1 % in 10 %, n = 40': planted(n=40, noise=0.003, tail=(0.1, 0.01)),
    'exp. tail of 1.5 % in 3 %, n = 300': planted(n=300, noise=0.004, tail=(0.03, 0.015)),
    'left lognormal .7 %, racks of 10 that differ by .5 %': racked(
        10, 0.005, noise=0.007, kind='lognormal'),
    'uniform 3 %, n = 3': planted(n=3, noise=0.03, kind='uniform'),
    'uniform 3 %, n = 7': planted(n=7, noise=0.03, kind='uniform'),
    'Laplace 2 %, n = 5': planted(n=5, noise=0.02, kind='laplace'),
    'Laplace 3 %, n = 12': planted(n=12, noise=0.03, kind='laplace'),
    'left lognormal 2 %, n = 4': planted(n=4, noise=0.02, kind='lognormal'),
    'left lognormal 3 %, n = 6': planted(n=6, noise=0.03, kind='lognormal'),
    'left lognormal 4 %, n = 9': planted(n=9, noise=0.04, kind='lognormal'),
    'normal 4 %, n = 5': planted(n=5, noise=0.04),
    'normal 3 %, three quarters common, n = 5': planted(n=5, noise=0.03, common=0.75),
    'skew t4 .7 %, 2 ranks, n = 60': planted(n=60, noise=0.007, kind='skew t', ranks=2),
    'extreme value .8 %, 4 ranks, n = 40': planted(n=40, noise=0.008, kind='extreme', ranks=4),
    'Burr 3, 2, 1 %, 64 ranks, n = 16': planted(n=16, noise=0.01, kind='burr', ranks=64),
    'Burr .8 %: 3 at -6 %': planted(3, 0.06, noise=0.008, kind='burr'),
    'generalized Pareto .7 %: 4 at -7 %': planted(4, 0.07, noise=0.007, kind='pareto'),
    'skew t4 .6 %: 2 at -5 %': planted(2, 0.05, noise=0.006, kind='skew t'),
    'exp. tail of 1 % in 5 %: 3 at -8 %': planted(3, 0.08, noise=0.003, tail=(0.05, 0.01)),
    'a fifth low and noisier, .5 %: 5 at -5 %': planted(5, 0.05, noise=0.005, kind='off-centre'),
    't3 .5 %, n = 40: 2 at -6 %': planted(2, 0.06, n=40, noise=0.005, kind='t3'),
    'normal 1.5 %: 4 at -7 %': planted(4, 0.07, noise=0.015),
    'normal .7 %, n = 15: 1 at -4 %': planted(1, 0.04, n=15, noise=0.007),
    'uniform .7 %, n = 6: 1 at -5 %': planted(1, 0.05, n=6, noise=0.007, kind='uniform'),
    'Laplace .5 %, n = 10: 1 at -5 %': planted(1, 0.05, n=10, noise=0.005, kind='laplace'),
    'extreme value .8 %, 4 ranks: one at -12 %': one_rank(
        0.12, n=40, noise=0.008, kind='extreme', ranks=4),
}  # fmt: skip
# never looked at while the rule was made
HELD_BACK = {
    'laplace 1 %': planted(noise=0.01, kind='laplace'),
    'gamma(2), left, 1 %': planted(noise=0.01, kind='gamma'),
    '10 % three times as wide, 1 %': planted(noise=0.01, kind='contaminated'),
    't5, 1 %': planted(noise=0.01, kind='t5'),
    'half normal, left, 2 %': planted(noise=0.02, kind='half'),
    'left lognormal 1 %, all common': planted(noise=0.01, kind='lognormal', common=1.0),
    'normal 3 %, all common, n = 4': planted(n=4, noise=0.03, common=1.0),
    'normal 3 %, all common, n = 8': planted(n=8, noise=0.03, common=1.0),
    'laplace 1 %, n = 40': planted(n=40, noise=0.01, kind='laplace'),
    'laplace 1 %: 3 at -10 %': planted(3, 0.1, noise=0.01, kind='laplace'),
    'gamma(2) 1 %: 5 at -8 %': planted(5, 0.08, noise=0.01, kind='gamma'),
    '40 nodes, .7 %: 2 at -5 %': planted(2, 0.05, n=40, noise=0.007),
    '60 nodes, 1 %: 20 at -8 %': planted(20, 0.08, n=60, noise=0.01),
}
FAULTS = {
    '1 at -3 %': planted(1, 0.03), '5 at -5 %': planted(5, 0.05), '10 at -3 %': planted(10, 0.03),
    '19 at -5 %': planted(19, 0.05), '20 at -5 %': planted(20, 0.05),
    '20 at -20 %': planted(20, 0.2), '20 at -3..-10 %': planted(20, (0.03, 0.1)),
    '30 at -4 %': planted(30, 0.04), '30 at -4 +-1 %': planted(30, (0.0227, 0.0573)),
    '30 at -12.5 %': planted(30, 0.125), '5 of 20 at -5 %': planted(5, 0.05, n=20),
    '6 of 20 at -50 %': planted(6, 0.5, n=20), '+5 %, and -4 % of 6': faster(1, 0.05, 1, 0.04, 6),
    '30 % at +5 %, 2 at -4 %': faster(30, 0.05, 2, 0.04, 100),
    '1 %: 5 at -5 %': planted(5, 0.05, noise=0.01),
    '2 %: 5 at -8 %': planted(5, 0.08, noise=0.02),
    '3 %: 5 at -10 %': planted(5, 0.1, noise=0.03),
    'exp. tail: 3 at -5 %': planted(3, 0.05, noise=0.003, tail=(0.1, 0.01)),
    '2/1/.3/.3 %: add -4 % in 3': one_kernel(3, 2, 0.04, noise=UNEVEN),
    'kits 3 %: 3 at -6 %': kits(0.5, 0.03, 3, 0.06),
    'kits 1.5 %: 3 at -4 %': kits(0.5, 0.015, 3, 0.04),
    '8 ranks, 1 %: one -10 %': one_rank(0.1, ranks=8, noise=0.01),
    '128 ranks, 2 %: one -12.5 %': one_rank(0.125, ranks=128, noise=0.02),
}  # fmt: skip


TABLES = (
    'CLEAN',
    'SMALL',
    'RACKS',
    'FAULTS',
    *(f'HELD_BACK{n}' for n in ('', '_2', '_3', '_4', '_5')),
)


def measure(rule, make, fleets, first=0):
    """[% of fleets with a false FAIL, with a healthy node not PASS, false FAILs per fleet,
    % found, % found or SUSPECT, % of fleets in which all are]."""
    sums = np.zeros(7)
    for seed in range(first, first + fleets):
        rng = np.random.default_rng(seed)
        rates, where = make(rng)
        steady = 1 / (1 + np.abs(rng.normal(0, HICCUP, len(rates))))
        fail, _, suspect = rule(rates, steady)
        bad = np.zeros(len(rates), bool)
        bad[where] = True
        alarms, other = fail & ~bad, (fail | suspect) & ~bad
        told = (fail | suspect) & bad
        sums += (alarms.any(), other.any(), alarms.sum(), (fail & bad).sum(), told.sum(),
                 (told == bad).all(), bad.sum())  # fmt: skip
    planted_nodes = max(sums[6], 1)
    return [*(100 * sums[:2] / fleets), sums[2] / fleets, *(100 * sums[3:5] / planted_nodes),
            100 * sums[5] / fleets]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('table', choices=TABLES)
    parser.add_argument('fleets', type=int)
    parser.add_argument('--only', default='', help='rows with this in their name')
    parser.add_argument('--now', action='store_true', help='not the rule of before')
    parser.add_argument('--first', type=int, default=0, help='seed')
    parser.add_argument('--alpha', type=float, default=ALPHA, help='chance of a FAIL')
    args = parser.parse_args()
    now = functools.partial(after, alpha=args.alpha)
    print('| fleet | rule | false FAIL % | any false % | FAILs per fleet | found % | or SUSPECT % '
          '| all of them % | s |')  # fmt: skip
    for name, make in globals()[args.table].items():
        rules = (now,) if args.now else (before, now)
        for rule in rules if args.only in name else ():
            start = time.perf_counter()
            cells = ' | '.join(f'{x:.3g}' for x in measure(rule, make, args.fleets, args.first))
            seconds = time.perf_counter() - start
            print(
                f'| {name} | {"before" if rule is before else "now"} | {cells} | {seconds:.0f} |',
                flush=True,
            )


if __name__ == '__main__':
    main()
