"""How surely are the lowest figures of a sample no part of it, whatever the shape of its noise.

Healthy nodes do not differ by normal noise alone: fleets have left tails, and far ones. The shape
and the spread are taken from the figures themselves: the m lowest are set aside, each shape (a
grid of J. Tukey's g-and-h distributions, Exploratory Data Analysis, 1977) and each spread of a
grid is weighted by how well it explains the rest (Bayes), and the m lowest are held against what
those expect of a sample of that size. A far tail of healthy nodes thus pays for itself, and bad
nodes do not hide behind each other: all m are set aside at once (B. Rosner, Technometrics 25
(1983), does so for normal noise).

That is done twice: with the usual chances of shapes and spreads before looking, and with ones
that are less favourable to a verdict: the spread of a few nodes may be further from the usual one,
kernels that rise and fall together tell no more than one of them, and each of several low nodes
is itself a sign of a tail (`CAUTIOUS`).
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
CAUTIOUS_FACTOR = 3.0
# Of two figures that are equal in this share of the sample, the step between is rounding ...
TIED = 0.5
# ... if it is no larger than this: nobody rounds a bandwidth to 5 %.
COARSEST = 0.05
# g: below 0 the left tail is longer than the right one (a lognormal's); h: both are far ones
# (0.2: as Student's with three degrees of freedom)
SKEWS = -0.6, -0.45, -0.3, -0.15, 0.0, 0.2, 0.4, 0.7
TAILS = 0.0, 0.06, 0.12, 0.2
LATE = 0.05, 0.1, 0.2  # shares of nodes that lose an exponential share, of that mean, besides
LATE_MEAN = 3.5
# Chances before looking that noise is skewed, has far tails, has late nodes: what is not normal
# is to be seen in the figures. In fewer nodes than MANY no tail can be told from bad nodes, and
# these chances fall with the square of their number.
SKEWED, FAR, LATER, MANY = 0.05, 0.1, 0.02, 50
# Among those called bad, this share may be healthy ones that lie as low; in normal noise, where
# the kernels of a node miss each other, a third of it: each kernel brings its own.
FALSE_SHARE = 0.03
# Cautiously it may be this share of a verdict's chance, whatever the noise: 0.75 % where it is 1.
CAUTIOUS_SHARE = 0.75
# Cautiously the chances of what is not normal grow with the number of low nodes over this one,
# and with the number of figures over this one, as far as this. By hand: as much as finds no less
# of what docs/judging.md plants in normal noise.
SIGNS, MANY_SHOW, AT_MOST = 3, 100, 0.5
# A spread of two or three nodes is hardly known: paid for by this, over their number squared.
FEW = 9
CANDIDATES = 24  # numbers m that are tried
EXACT = 600  # figures; the middle of larger samples is binned
SPREADS = 13  # of the grid, where its middle is the same for all m
Z = np.linspace(-9, 9, 1801)


@dataclass(frozen=True)
class Shape:
    """A distribution with median 0 and MAD 0.6745, by its quantiles at the normal ones `Z`."""

    name: str
    chance: float  # before looking, in many nodes
    quantiles: np.ndarray
    log_density: np.ndarray

    def log_below(self, x):
        return special.log_ndtr(np.interp(x, self.quantiles, Z))

    def log_above(self, x):
        return special.log_ndtr(-np.interp(x, self.quantiles, Z))

    def log_at(self, x):
        return np.interp(x, self.quantiles, self.log_density)


@functools.cache
def shapes():
    """The first is normal noise."""
    late = [
        _shape(f'{share:.0%} late', LATER / len(LATE), _late(share, LATE_MEAN)) for share in LATE
    ]
    grid = sorted(((g, h) for g in SKEWS for h in TAILS), key=lambda pair: pair != (0, 0))
    return [
        *(
            _shape(
                f'g {g} h {h}',
                (1 - LATER) * _chance(g, SKEWED, SKEWS) * _chance(h, FAR, TAILS),
                (np.expm1(g * Z) / g if g else Z) * np.exp(h * Z**2 / 2),
            )
            for g, h in grid
        ),
        *late,
    ]


def _chance(value, other, values):
    """Of one value where 0 is usual and all others together have the chance `other`."""
    return other / (len(values) - 1) if value else 1 - other


def _first_guess(count, signs):
    """log of the weight of each shape before looking, shapes x 1 x numbers; `signs`: how many
    times more likely than usual one is that is not normal, for each number."""
    seen = min(1.0, count / MANY) ** 2
    rest = np.array([shape.chance for shape in shapes()[1:]])[:, None] * seen
    rest = rest * np.minimum(signs, max(1.0, AT_MOST / rest.sum()))
    return np.log(np.vstack([1 - rest.sum(axis=0), rest]))[:, None]


def _late(share, mean):
    """Normal noise, and a share of the nodes low by an exponential loss of that mean besides."""
    x = np.linspace(-mean * 40 - 9, 9, 200_001)
    late = np.exp(special.log_ndtr(-x - 1 / mean) + x / mean + 0.5 / mean**2)
    cdf = special.ndtr(x) + share * np.clip(late, 0, 1)
    low = np.interp(special.ndtr(Z), np.maximum.accumulate(cdf), x)
    return np.where(Z < 4, low, low[np.searchsorted(Z, 4) - 1] + Z - 4)


def _shape(name, chance, quantiles):
    quantiles = quantiles - quantiles[len(Z) // 2]
    spread = _mad(quantiles)
    quantiles = np.maximum.accumulate(quantiles / spread * MAD_TO_SIGMA + 1e-12 * Z)
    slope = np.gradient(quantiles, Z)
    log_density = stats.norm.logpdf(Z) - np.log(np.maximum(slope, 1e-300))
    return Shape(name, chance, quantiles, log_density)


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
    """(q, cautious q) of each figure, 2 x figures: the chance that a healthy sample of this size
    has any so low, with the usual and with the less favourable chances before looking.

    column: relative figures (1 is usual). others: more columns of the same nodes, which lend a
    few nodes their spread. `divide`: of how many samples this is one. Figures that are not lower
    than `margin` have q = 1.
    """
    q = np.ones((2, len(column)))
    order = np.argsort(column, kind='stable')
    rising = column[order]
    step = rounding(column)
    numbers = _numbers(rising, max(margin, 1.01 * step))
    if len(numbers):
        usual, cautious = _Noise(rising, others[order], step, numbers).chances()
        share = usual.share / FALSE_SHARE * (0.01 + 0.02 * usual.normal)
        least = np.maximum(usual.joint * divide, share)
        share = cautious.share / CAUTIOUS_SHARE
        most = np.maximum(np.maximum(cautious.joint * divide, share), least)
        for m, *values in zip(numbers, least, most, strict=True):
            low = order[:m]
            q[:, low] = np.minimum(q[:, low], np.array(values)[:, None])
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


def _share_of_last(healthy, numbers):
    """The share of healthy ones among the m lowest, or among the last of these if it is larger:
    far lower bad nodes do not pay for healthy ones that lie above them (B. Efron's local false
    discovery rate, Large-Scale Inference, 2010, ch. 5, between any fewer and m).

    healthy: how many healthy ones are expected among the m lowest, for each m of `numbers`.
    """
    m, expected = np.r_[0, numbers], np.r_[0.0, healthy]
    more = m[:, None] - m
    shares = (expected[:, None] - expected) / np.where(more > 0, more, 1)
    return np.where(more > 0, shares, 0.0).max(axis=1)[1:]


@dataclass(frozen=True)
class Chances:
    """For each number m that is tried.

    joint: of m or more so low, paid for by how many numbers are tried; share: of healthy ones
    among the m lowest; normal: that the noise is.
    """

    joint: np.ndarray
    share: np.ndarray
    normal: np.ndarray


class _Noise:
    """What is known of a sample's noise when its m lowest figures are set aside, and its highest
    ones say only that they are higher: a weight for each shape, spread and m.

    Each figure is explained once, by all shapes and spreads; what explains the figures above the
    m lowest is the sum from the top down to them.
    """

    def __init__(self, rising, others, step, numbers):
        self.count, self.numbers = len(rising), numbers
        self.middle = np.median(rising)
        self.figures = rising / self.middle - 1
        high = _unusual(self.count)
        self.rest = self.figures[: self.count - high]
        self.others = others[: self.count - high]
        self.lent = min(1.0, LENT / self.count) / 2  # half of what kernels tell is common to them
        if self.lent < LEAST_LENT or not others.size:
            self.others_apart = np.empty((len(self.rest), 0))
        else:
            # the lowest is under suspicion: of three nodes the median would be one of two
            self.others_apart = self.others / np.median(self.others[1:], axis=0) - 1
        self.spreads = self._spreads(max(FLOOR, step / self.middle / np.sqrt(12)))
        tables = np.array([self._explained(shape, high) for shape in shapes()])
        own, lent = tables[:, 0], tables[:, 1]
        signs = np.maximum(1, numbers / SIGNS) * max(1, self.count / MANY_SHOW)
        self.weights = np.array([
            self._weights(own + lent, PRIOR_FACTOR, np.ones(len(numbers))),
            self._weights(own + lent * self._apart(), CAUTIOUS_FACTOR, signs),
        ])  # fmt: skip

    def _weights(self, table, factor, signs):
        """Of each shape, spread and m; last of all those of normal noise whose tail the m lowest
        were: the rest would be what is left of it."""
        prior = -0.5 * (np.log(self.spreads / PRIOR_SPREAD) / np.log(factor))[:, None] ** 2
        next_up = self.figures[self.numbers] / self.spreads[:, None]
        cut = table[:1] + prior + self.numbers * shapes()[0].log_below(next_up)
        return np.vstack([_normed(table + prior + _first_guess(self.count, signs)), _normed(cut)])

    def _apart(self):
        """How much the other columns tell besides, for each m: all, unless hardly a node differs
        from the others in one kernel more than in another."""
        told = np.ones(len(self.numbers))
        for i, m in enumerate(self.numbers if self.others_apart.size else ()):
            rest = np.column_stack([1 + self.rest, self.others])[m:]
            rest = rest - rest.mean(axis=0)
            variance = (rest**2).mean()
            if len(rest) < LEAST_REST or variance < FLOOR**2:
                continue
            own = rest - rest.mean(axis=1, keepdims=True)
            free = 1 - 1 / rest.shape[1]
            told[i] = (own**2).mean() / free / variance / OWN_SHARE
        return np.minimum(told, 1)

    def _spreads(self, floor):
        """A grid around what the rest shows, for any m."""
        centers = np.log([self._center(m) for m in self.numbers])
        reach = min(2.0, 5.0 / np.sqrt(self.count))
        low, high = centers.min() - reach, centers.max() + reach
        points = int(np.ceil((high - low) / (2 * reach) * (SPREADS - 1))) + 1
        return np.maximum(np.exp(np.linspace(low, high, points)), floor)

    def _center(self, m):
        columns = [(self.rest[m:], 1.0), *((c, self.lent) for c in self.others_apart[m:].T)]
        pools = [(np.median(np.abs(v)), len(v) * weight) for v, weight in columns if len(v) > 1]
        squares = sum((mad / MAD_TO_SIGMA) ** 2 * known for mad, known in pools)
        pulled = (squares + PRIOR_SPREAD**2) / (sum(known for _, known in pools) + 1)
        return np.sqrt(max(pulled, FLOOR**2))

    @functools.cached_property
    def _bins(self):
        """(first figures of the bins, how many are in each); both ends are as they are."""
        count = len(self.rest)
        edges = np.arange(count)
        if count > EXACT:
            middle = np.linspace(150, count - 50, 300).astype(int)
            edges = np.unique(np.r_[:150, middle, count - 50 : count, self.numbers])
        return edges, np.diff(np.r_[edges, count])

    @functools.cached_property
    def _others_scaled(self):
        """The other columns, each by its own spread; of many figures the shape shows itself."""
        if not 4 < len(self.others) <= EXACT or not self.others.size:
            return np.empty((len(self._bins[0]), 0))
        middle = np.median(self.others, axis=0)
        mad = np.median(np.abs(self.others - middle), axis=0)
        return (self.others - middle) / np.maximum(mad / MAD_TO_SIGMA, FLOOR * middle)

    def _explained(self, shape, high):
        """log likelihood of the figures above the m lowest, and what other columns add, each
        spreads x m."""
        edges, weights = self._bins
        spread = self.spreads[:, None]
        values = np.add.reduceat(self.rest, edges) / weights
        density = (shape.log_at(values / spread) - np.log(spread)) * weights
        left = len(self.rest) - self.numbers
        known = np.maximum(left - 1, 0) / left  # the median was taken from the same figures
        first = np.searchsorted(edges, self.numbers)
        total = _from_top(density)[:, first] * known
        added = np.zeros(total.shape)
        for column in self.others_apart.T:
            lent = shape.log_at(column / spread) - np.log(spread)
            added += self.lent * _from_top(lent)[:, first]
        added += SHARED * _from_top(shape.log_at(self._others_scaled).sum(axis=1))[first]
        return total + high * shape.log_above(self.rest[-1] / spread), added

    def chances(self):
        """Usual and cautious Chances."""
        wide = np.sqrt(1 + np.pi / 2 / self.count)  # the median is not known for sure, either
        lowest = self.figures[self.numbers - 1] / (self.spreads[:, None] * wide)
        p = np.exp([shape.log_below(lowest) for shape in [*shapes(), shapes()[0]]])
        so_many = np.zeros(p.shape)
        matter = (self.weights > 1e-8).any(axis=0)
        m = np.broadcast_to(self.numbers, p.shape)[matter]
        so_many[matter] = special.betainc(m, self.count - m + 1, p[matter])
        return [self._chances(weights, so_many, p) for weights in self.weights]

    def _chances(self, weights, so_many, p):
        joint = np.maximum((weights * so_many)[:-1].sum(axis=(0, 1)),
                           (weights * so_many)[-1].sum(axis=0))  # fmt: skip
        healthy = (weights * p)[:-1].sum(axis=(0, 1)) * self.count
        share = _share_of_last(healthy, self.numbers)
        return Chances(joint * _paid(self.numbers, self.count), share, weights[0].sum(axis=0))


def _paid(numbers, count):
    """The inverse of each m's part of the chance: all parts together are 1."""
    most = max(1, (count - 1) // 2)
    return numbers * (numbers + 1) * most / (most + 1) * (1 + FEW / (count - 1) ** 2)


def _from_top(values):
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]


def _normed(logs):
    """Weights of shapes and spreads, for each m."""
    weights = np.exp(logs - logs.max(axis=(0, 1)))
    return weights / weights.sum(axis=(0, 1))


def _unusual(count):
    """How many of the highest are not asked how high they are: one may be of another kind."""
    return int(6 <= count < 30)


SHARED = 0.15  # what a further kernel tells about the shape, to what the first one tells
LENT = 4  # figures of the column itself that are as good as one of another column
LEAST_LENT = 0.05  # less than that is not asked for
LEAST_REST = 3  # nodes that show what kernels have in common
OWN_SHARE = 0.15  # of the variance: from there on a kernel is a figure of its own
