"""How surely are the lowest figures of a sample no part of it, whatever the shape of its noise.

Healthy nodes do not differ by normal noise alone: fleets have left tails, and far ones. The shape
and the spread are taken from the figures themselves: the m lowest are set aside, each shape of a
catalogue and each spread of a grid is weighted by how well it explains the rest (Bayes), and the
m lowest are held against what those expect of a sample of that size. A far tail of healthy nodes
thus pays for itself, and bad nodes do not hide behind each other: all m are set aside at once
(B. Rosner, Technometrics 25 (1983), does so for normal noise).
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

# MAD / 0.6745 estimates the standard deviation of normal noise: Phi^-1(3/4).
MAD_TO_SIGMA = stats.norm.ppf(0.75)
# Before looking, healthy nodes are taken to differ by 0.75 %, give or take a factor of two: it
# decides among a few nodes and vanishes among hundreds.
PRIOR_SPREAD = 0.0075
PRIOR_FACTOR = 2.0
# A spread of 0 (rounded or copied figures) would make every difference infinitely sure.
FLOOR = 0.001
# Of two figures that are equal in this share of the sample, the step between is rounding ...
TIED = 0.5
# ... if it is no larger than this: nobody rounds a bandwidth to 5 %.
COARSEST = 0.05
# Among those called bad, this share may be healthy ones that lie as low; in normal noise, where
# the kernels of a node miss each other, a third of it: each kernel brings its own.
FALSE_SHARE = 0.03
# Weight of all other shapes than normal noise before looking, from so many nodes on; in fewer no
# tail can be told from bad nodes, and the weight falls with the square of their number.
FAR, MANY = 0.08, 100
# A mild left tail hides in a far one that shows its beginning: it has to be seen clearly. Without
# it slow nodes in reach of the far one were lost; with more weight healthy far tails alarm.
MILD_TAU, MILD = 0.35, 0.001
# A spread of two or three nodes is hardly known: paid for by this, over their number squared.
FEW = 9
CANDIDATES = 24  # numbers m that are tried
EXACT = 600  # figures; the middle of larger samples is binned
SPREADS = 13  # of the grid
Z = np.linspace(-9, 9, 1801)


@dataclass(frozen=True)
class Shape:
    """A distribution with median 0 and MAD 0.6745, by its quantiles at the normal ones `Z`."""

    name: str
    quantiles: np.ndarray
    log_density: np.ndarray

    def log_below(self, x):
        return special.log_ndtr(np.interp(x, self.quantiles, Z))

    def log_above(self, x):
        return special.log_ndtr(-np.interp(x, self.quantiles, Z))


@functools.cache
def shapes():
    """Normal noise is the first guess; the others must be seen in the figures."""
    far = special.ndtr(-np.abs(Z))
    every = {'normal': Z, 't3': -np.copysign(stats.t.ppf(far, 3), -Z)}
    every |= {f'lognormal {tau}': -np.expm1(-tau * Z) / tau for tau in (MILD_TAU, 0.7)}
    every |= {f'{share:.0%} in a tail of {mean}': _tail(share, mean)
              for share, mean in ((0.05, 3.5), (0.1, 3.5), (0.2, 3.5))}  # fmt: skip
    return [_shape(name, quantiles) for name, quantiles in every.items()]


def _first_guess(count):
    """log of the weight of each shape before looking."""
    far = FAR * min(1.0, count / MANY) ** 2
    guess = np.array([MILD if str(MILD_TAU) in shape.name else 1.0 for shape in shapes()[1:]])
    return np.log([1 - far, *(far * guess / guess.sum())])


def _tail(share, mean):
    """Normal noise, and a share of the nodes low by an exponential loss of that mean besides."""
    x = np.linspace(-mean * 40 - 9, 9, 200_001)
    late = np.exp(special.log_ndtr(-x - 1 / mean) + x / mean + 0.5 / mean**2)
    cdf = special.ndtr(x) + share * np.clip(late, 0, 1)
    low = np.interp(special.ndtr(Z), np.maximum.accumulate(cdf), x)
    return np.where(Z < 4, low, low[np.searchsorted(Z, 4) - 1] + Z - 4)


def _shape(name, quantiles):
    quantiles = quantiles - quantiles[len(Z) // 2]
    mad = stats.norm.ppf(0.75)
    spread = _mad(quantiles)
    quantiles = np.maximum.accumulate(quantiles / spread * mad + 1e-12 * Z)
    slope = np.gradient(quantiles, Z)
    return Shape(name, quantiles, stats.norm.logpdf(Z) - np.log(np.maximum(slope, 1e-300)))


def _mad(quantiles):
    """By bisection: the half-width around the median that holds half of the mass."""
    low, high = 0.0, 50.0
    for _ in range(60):
        mid = (low + high) / 2
        inside = np.diff(special.ndtr(np.interp([-mid, mid], quantiles, Z)))[0]
        low, high = (mid, high) if inside < 0.5 else (low, mid)
    return low


def rounding(values):
    """The step that figures were rounded to; 0: none is seen."""
    distinct, count = np.unique(values, return_counts=True)
    if len(distinct) < 2 or count[count > 1].sum() < TIED * len(values):
        return 0.0
    step = np.diff(distinct).min()
    return float(step) if step <= COARSEST * abs(np.median(values)) else 0.0


def judge_low(column, others, margin, divide=1.0):
    """q for each figure: the chance that a healthy sample of this size has any so low.

    column: relative figures (1 is usual). others: more columns of the same nodes, which lend a
    few nodes their spread. `divide`: of how many samples this is one. Figures that are not lower
    than `margin` have q = 1.
    """
    count = len(column)
    q = np.ones(count)
    order = np.argsort(column, kind='stable')
    rising = column[order]
    step = rounding(column)
    for m in _numbers(rising, max(margin, 1.01 * step)):
        spread = _Spread(rising, m, others[order[m : count - _unusual(count)]], step)
        joint, share = spread.chance(rising[m - 1], m)
        paid = m * (m + 1) / 2 * divide * (1 + FEW / (count - 1) ** 2)
        value = min(1.0, max(joint * paid, share / FALSE_SHARE * (0.01 + 0.02 * spread.normal)))
        q[order[:m]] = np.minimum(q[order[:m]], value)
    return q


def _numbers(rising, margin):
    """How many of the lowest might be bad: where the gap to the next one is largest."""
    count = len(rising)
    most = max(1, count // 2)
    m = np.arange(1, min(most, (count - 1) // 2) + 1)
    m = m[rising[m - 1] < np.median(rising) * (1 - margin)]
    if len(m) > CANDIDATES:
        gaps = (rising[m] - rising[m - 1]) * np.sqrt(m)
        m = np.sort(m[np.argsort(-gaps, kind='stable')[:CANDIDATES]])
    return m


class _Spread:
    """What is known of a sample's noise when its m lowest figures say only that they are lower
    than the others, and its highest ones that they are higher: a weight for each shape and spread.
    """

    def __init__(self, rising, m, others, step):
        self.count = len(rising)
        self.middle = np.median(rising)
        high = _unusual(self.count)
        rest = rising[m : self.count - high] / self.middle - 1
        values, weights = _binned(rest)
        lent = _lent(others, self.count)
        center = _center(values, weights, lent)
        reach = min(2.0, 5.0 / np.sqrt(self.count))
        floor = max(FLOOR, step / self.middle / np.sqrt(12))
        self.spreads = np.maximum(center * np.exp(np.linspace(-reach, reach, SPREADS)), floor)
        # the median was taken from the same figures: one of them says nothing
        known = (len(rest) - 1) / len(rest) if len(rest) > 1 else 0.0
        prior = -0.5 * (np.log(self.spreads / PRIOR_SPREAD) / np.log(PRIOR_FACTOR)) ** 2
        table = np.array([
            guess + prior + known * self._explains(shape, values, weights)
            + high * shape.log_above(values[-1] / self.spreads)
            + sum(w * self._explains(shape, v, np.ones(len(v))) for v, w in lent)
            + _alike(shape, others)
            for guess, shape in zip(_first_guess(self.count), shapes(), strict=True)
        ])  # fmt: skip
        self.weights = _normed(table)
        self.normal = self.weights[0].sum()
        # were the m lowest the tail of normal noise, the rest would be what is left of it
        cut = table[0] + m * shapes()[0].log_below(values[0] / self.spreads)
        self.weights_cut = _normed(cut)

    def _explains(self, shape, values, weights):
        """log likelihood for each spread."""
        density = np.interp(values / self.spreads[:, None], shape.quantiles, shape.log_density)
        return density @ weights - weights.sum() * np.log(self.spreads)

    def chance(self, lowest, m):
        """(of m or more so low, the share of those m that are expected anyhow)."""
        wide = np.sqrt(1 + np.pi / 2 / self.count)  # the median is not known for sure, either
        x = (lowest / self.middle - 1) / (self.spreads * wide)
        p = np.array([np.exp(s.log_below(x)) for s in shapes()])
        so_many = stats.binom.sf(m - 1, self.count, p)
        joint = max((self.weights * so_many).sum(), (self.weights_cut * so_many[0]).sum())
        return float(joint), float((self.weights * p).sum() * self.count / m)


def _normed(logs):
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def _unusual(count):
    """How many of the highest are not asked how high they are: one may be of another kind."""
    return int(6 <= count < 30)


SHARED = 0.15  # what a further kernel tells about the shape, to what the first one tells


def _alike(shape, others):
    """log likelihood of a shape by the other columns, each by its own spread."""
    if len(others) < 4 or not others.size:
        return 0.0
    middle = np.median(others, axis=0)
    mad = np.median(np.abs(others - middle), axis=0)
    z = (others - middle) / np.maximum(mad / MAD_TO_SIGMA, FLOOR * middle)
    return SHARED * np.interp(z, shape.quantiles, shape.log_density).sum()


def _binned(values):
    """Values and their weights; both ends as they are, a large middle in bins."""
    if len(values) <= EXACT:
        return values, np.ones(len(values))
    low, high = values[:150], values[-50:]
    parts = np.array_split(values[150:-50], 300)
    weights = np.array([1.0] * 150 + [len(part) for part in parts] + [1.0] * 50)
    return np.concatenate([low, [part.mean() for part in parts], high]), weights


LENT = 4  # figures of the column itself that are as good as one of another column


def _lent(others, count):
    """Deviations of the nodes in other columns, each with a weight."""
    if not others.size or count < 2:
        return []
    weight = min(1.0, LENT / count) / 2  # half of what kernels tell they have in common
    if weight < 0.05:
        return []
    return [(column / np.median(column) - 1, weight) for column in others.T]


def _center(values, weights, lent):
    pools = [(values, weights.sum())] + [(v, w * len(v)) for v, w in lent]
    squares = [
        (np.median(np.abs(v)) / MAD_TO_SIGMA) ** 2 * n for v, n in pools if len(v) > 1
    ]  # fmt: skip
    known = sum(n for v, n in pools if len(v) > 1)
    pulled = (sum(squares) + PRIOR_SPREAD**2) / (known + 1)
    return np.sqrt(max(pulled, FLOOR**2))
