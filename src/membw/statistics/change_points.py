"""Finds where series change their level, thousands of series at once.

Seeded binary segmentation: S. Kovacs, P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023), with
the two-sample statistic that it shares with D. Hinkley, Biometrika 57 (1970), made robust:
isolated outliers are replaced first (F. Hampel, JASA 69 (1974); as a filter of width 5 they are
replaced when up to two of five neighbours are bad), the noise of one night is estimated from the
differences of neighbours, which neither a step nor a drift inflates, by their MAD; and what the
mean of several nights has more than that (memory, waves, tails) is measured on such means.

Rows are packed: their values first, NaN behind them. In single precision all is done in half the
time and memory; sums and what is said of a single row are in double precision.
"""

import numpy as np
from scipy.special import stdtr, stdtrit  # scipy.stats takes half a second to load

from membw import processes
from membw.statistics.robust import MAD_EFFICIENCY, MAD_TO_SIGMA
from membw.statistics.split_bound import Bound
from membw.statistics.splits import (
    LEAST,
    Sums,
    chunks,
    running_sums,
    strongest,
    value_counts,
)

WINDOW = 5
OUTLIER = 3.5  # Iglewicz and Hoaglin, 1993
FARTHEST = 6.0  # times the noise: what is farther from its level weighs no more than this
NEAREST = 1 / 3  # of that: where many nights are bad, what lasts shows best so
BLOCK, AROUND = 15, 61  # nights that share a level; nights whose median it is
# Differences of neighbours share a figure: they know two thirds of what as many figures know.
# J. von Neumann, Ann. Math. Stat. 12 (1941)
DIFFERENCE_EFFICIENCY = 2 / 3
# Relative noise taken for granted, and its weight as degrees of freedom: G. Smyth, Linear models
# and empirical Bayes methods, SAGMB 3 (2004), here with a fixed prior.
PRIOR_SPREAD = 0.0075
PRIOR_WEIGHT = 6
# ... and where the noise of many like nodes tells what to take for granted
MANY, FLEET_WEIGHT = 20, 20
FLOOR = 0.0005
SCALES = (3, 6, 12, 24, 48)  # nights whose means are compared with those of the nights around
BESIDE = 4  # times as many nights are the level that they are compared with
SAMPLE = 500  # rows that tell the growth of the noise
LEAST_WORTH = 2.0  # degrees of freedom
FEW_ROWS = 1000  # are judged sooner than a process begins
TAIL, TAIL_TO_SIGMA, LEAST_FOR_TAIL = 0.95, 1.96, 60


class Rows:
    """Packed rows, their noise, and what their changes have to be larger than."""

    def __init__(self, packed, count, questions, alpha, least=0.0):
        self.raw, self.count, self.questions = packed, count, questions
        self.calm, self.freedom = noise(packed, count)
        self.sigma = np.maximum(self.calm, least)
        self.levels = levels(packed)
        self.limit = limit_for(alpha, self.freedom, questions)
        some = np.arange(0, len(packed), max(1, len(packed) // SAMPLE))
        self.reach = FARTHEST * self.sigma
        near, sigma = next(self.views(some)), self.sigma[some]
        self.reach = self.reach * _growth(near, sigma, False, SCALES[:1])[: LEAST + 1].max()
        easier = _easier(packed.shape[1], alpha, self.freedom, questions)
        self.grown = [_growth(values, sigma, True) * easier for values in self.views(some)]
        self.growth = self.grown[0]
        self._of_row = {}

    def views(self, rows):
        """Values of some rows: as far off as LEAST nights show a step; near, for what lasts."""
        kind = self.raw.dtype
        smooth = without_outliers(self.raw[rows], self.count[rows], self.sigma[rows].astype(kind))
        low, high = around(self.levels[rows])
        for share in (1, NEAREST):
            reach = (share * self.reach[rows, None]).astype(kind)
            yield np.clip(smooth, low - reach, high + reach)

    def suspects(self):
        """Rows with any split that is sure."""
        order = np.argsort(-self.count, kind='stable')
        parts = np.array_split(order, min(processes.cores(), len(order) // FEW_ROWS + 1))
        sure = np.concatenate(processes.each(self._are_sure, parts, len(parts)))
        return np.sort(order[sure & (self.count[order] >= 2 * LEAST)])

    def _are_sure(self, some):
        """Whether each of these rows has such a split; the longest first."""
        sure, width = np.zeros(len(self.raw), dtype=bool), self.raw.shape[1]
        bounds = [Bound(width, grown) for grown in self.grown]
        for rows in chunks(some):
            sigma, limit = self.sigma[rows], self.limit[rows]
            scale, other = (1 / sigma[:, None]).astype(self.raw.dtype), None
            for values, bound in zip(self.views(rows), bounds, strict=True):
                of_noise_1 = values * scale
                if other:  # the views are much the same
                    may = np.flatnonzero(bound.beside(of_noise_1, *other) > limit)
                    may = may[bound.of(of_noise_1[may]) > limit[may]]
                else:
                    most = bound.of(of_noise_1)
                    may, other = np.flatnonzero(most > limit), (of_noise_1, bound.growth, most)
                z = strongest(values[may], sigma[may], bound.growth)
                sure[rows[may]] |= z > limit[may]
        return sure[some]

    def places(self, row):
        for values, grown in self._views_of(row):
            changes = segment(values, self.sigma[row], self.limit[row], grown)
            if changes:
                return changes
        return []

    def _views_of(self, row):
        """[(values, growth of the noise)] of one row."""
        if row not in self._of_row:
            views = [view[0, : self.count[row]].astype(float) for view in self.views([row])]
            self._of_row[row] = list(zip(views, self.grown, strict=True))
        return self._of_row[row]

    def placed(self, row, places):
        """Where each change is likeliest between its neighbours, were the noise Cauchy's: a few
        nights far from both levels, which move the place that their means tell, say little."""
        raw, edges = self.nights(row), [0, *places, self.count[row]]
        for i in range(1, len(edges) - 1):
            left, right = edges[i - 1], edges[i + 1]
            part = raw[left:right]
            levels = np.median(raw[left : edges[i]]), np.median(raw[edges[i] : right])
            before, after = (np.log1p(((part - x) / self.sigma[row]) ** 2) for x in levels)
            unlikely = np.cumsum(before - after)[LEAST - 1 : len(part) - LEAST]
            edges[i] = left + LEAST + int(unlikely.argmin())
        return edges[1:-1]

    def nights(self, row):
        """Of one row, as they are."""
        return self.raw[row, : self.count[row]].astype(float)

    def values(self, row):
        """Of one row, as its steps are looked for."""
        return self._views_of(row)[0][0]

    def p_value(self, row, before, after):
        """Of the difference of the means of two parts (slices) of a row, in the view that shows
        it best: which of them led to the place says nothing."""
        z = []
        for values, grown in self._views_of(row):
            one, two = values[before], values[after]
            n1, n2 = len(one), len(two)
            spread = self.sigma[row] * grown[min(n1, n2)] * np.sqrt(1 / n1 + 1 / n2)
            z.append(abs(two.mean() - one.mean()) / spread)
        return p_value(max(z), self.freedom[row], self.questions)


def noise(packed, count, many=MANY):
    """Standard deviation of one night and its degrees of freedom, of each row.

    The row's own estimate is averaged with what its like have: G. Smyth, SAGMB 3 (2004).
    """
    own = _middle_of(_moved, packed, np.maximum(count - 1, 0)) / MAD_TO_SIGMA / np.sqrt(2)
    freedom = MAD_EFFICIENCY * DIFFERENCE_EFFICIENCY * np.maximum(count - 1, 0)
    floor = max(FLOOR, _quantum(_moved(packed[:: max(1, len(packed) // SAMPLE)])) / 2)
    told = own[count >= 2 * LEAST]
    fleet = len(told) >= many
    prior = max(float(np.median(told)), floor) if fleet else PRIOR_SPREAD
    weight = FLEET_WEIGHT if fleet else PRIOR_WEIGHT
    own = np.where(count > 1, np.maximum(own, floor), 0)
    sigma = np.sqrt((weight * prior**2 + freedom * own**2) / (weight + freedom))
    return sigma, weight + freedom


def _moved(packed):
    """From each night to the next."""
    return np.abs(np.diff(packed))


def _quantum(distances):
    """What figures are rounded to: where half of all nights equal the night before, or nearly."""
    some = distances[~np.isnan(distances)]
    moved = some[some > FLOOR]
    if not len(moved) or len(moved) > 0.9 * len(some):
        return 0.0
    return float(np.quantile(moved, 0.1))


def _growth(values, sigma, tails, scales=SCALES):
    # a few rows' changes would be taken for noise
    levelled = _without_the_largest(values) if len(values) < MANY else values
    return growth(levelled, sigma, tails, scales)


def growth(packed, sigma, tails, most=SCALES):
    """The noise of a mean of n nights beyond that of n nights without memory: an array by n.

    Measured: how far the means of n nights lie from those of the nights before and after, pooled
    over the rows, each in units of its own `sigma`. Where few say how far, the next smaller n
    counts. It knows memory of any kind, waves shorter than the rows and, up to six nights, what
    `tails` add; after A. Gallant's and W. Newey's long-run variances, on the scale that is used.
    """
    width = packed.shape[1]
    scales, known = [1.0], [1.0]
    some = slice(None, None, max(1, len(packed) // SAMPLE))
    sums = running_sums(packed[some] / sigma[some, None]).astype(packed.dtype)
    for n in most:
        beside = min(max(width // 2 - n, n), BESIDE * n)
        if n + beside >= width:
            break
        distances = np.concatenate(list(_distances(sums, n, beside)))
        np.abs(distances, out=distances).sort()  # NaN last; twice as fast as two quantiles
        number = len(distances) - int(np.isnan(distances).sum())
        worth = MAD_EFFICIENCY * number / 2 / n
        if worth < LEAST_WORTH:
            break
        unit = np.sqrt(1 / n + 1 / beside)
        squared = (_quantile(distances[:number], 0.5) / unit / MAD_TO_SIGMA) ** 2
        if tails and n <= 2 * LEAST and worth >= LEAST_FOR_TAIL:
            tail = _quantile(distances[:number], TAIL) / unit / TAIL_TO_SIGMA
            squared = max(squared, tail**2)
        known.append(
            np.sqrt((PRIOR_WEIGHT * known[-1] ** 2 + worth * squared) / (PRIOR_WEIGHT + worth))
        )
        scales.append(n)
    return np.interp(np.arange(width + 1), scales, np.maximum(known, 1.0))


def _easier(width, alpha, freedom, questions):
    """The limit of a part of n nights to that of LEAST: so many fewer parts that long are there.

    Bonferroni's correction by scale: G. Walther, A. Perry, Biometrika 109 (2022).
    """
    usual = np.median(freedom) if len(freedom) else PRIOR_WEIGHT
    shorter = np.maximum(np.arange(width + 1), LEAST)
    many = np.maximum(questions * LEAST / shorter, 1)
    return limit_for(alpha, usual, many) / limit_for(alpha, usual, questions)


def _quantile(rising, share):
    place = share * (len(rising) - 1)
    low, part = int(place), place - int(place)
    return rising[low] if not part else (1 - part) * rising[low] + part * rising[low + 1]


def _distances(sums, n, beside):
    """Of n nights from those before; from those after."""
    for first, second in ((beside, n), (n, beside)):
        left = sums[:, first:-second] - sums[:, : -(first + second)]
        right = sums[:, first + second :] - sums[:, first:-second]
        right /= second
        left /= first
        right -= left
        yield right.ravel()


def _without_the_largest(values):
    """Rows without their most striking step: what is left tells the noise."""
    rest = values.copy()
    for row in rest:
        there = row[~np.isnan(row)]
        sums = Sums(there[None, :], np.ones(len(there) + 1))
        place = sums.best_split(0, len(there), 0.0)
        if place:
            for part in (slice(0, place), slice(place, len(there))):
                row[part] -= np.median(row[part])
    return rest


def pack(values):
    """Values of each row moved to its left, NaN behind them; their number, and their columns."""
    there = ~np.isnan(values)
    count = np.count_nonzero(there, axis=1)
    if (count == values.shape[1]).all():
        return values, count, np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(~there, axis=1, kind='stable')
    return np.take_along_axis(values, order, axis=1), count, order


def middle(values, count):
    """Median of the first `count` in size of each row; NaN sorts last."""
    return _middle_of(lambda rows: rows, values, count)


def _middle_of(figures, values, count):
    """The same of what `figures` makes of some rows."""
    medians = np.zeros(len(values), values.dtype)
    for rows in chunks(np.arange(len(values))):
        rising = np.sort(figures(values[rows[0] : rows[-1] + 1]), axis=1)
        width, many = rising.shape[1], count[rows]
        if not width:
            continue
        low, high = np.maximum(many - 1, 0) // 2, np.minimum(many // 2, width - 1)
        row = np.arange(len(rows))
        medians[rows] = np.where(many > 0, (rising[row, low] + rising[row, high]) / 2, 0)
    return medians


def without_outliers(packed, count, sigma):
    """Packed rows with isolated outliers replaced by the median of five neighbours."""
    last = packed.shape[1] - WINDOW
    if last < 0:
        return packed
    medians = _median_of_five(*(packed[:, i : i + last + 1] for i in range(WINDOW)))
    # the first and last two share the window that ends with them
    usual = np.pad(medians, ((0, 0), (WINDOW // 2,) * 2), 'edge')
    short = np.flatnonzero(count < packed.shape[1])
    for place in (count[short] - 1, count[short] - 2):
        usual[short, place] = medians[short, np.maximum(count[short] - WINDOW, 0)]
    return np.where(np.abs(packed - usual) > OUTLIER * sigma[:, None], usual, packed)


def levels(packed):
    """The running median of rows, the same for a block of nights."""
    medians = np.empty_like(packed)
    for begin in range(0, packed.shape[1], BLOCK):
        centre = begin + BLOCK // 2
        # a window at the end of a row reaches as far back
        first = max(min(centre - AROUND // 2, packed.shape[1] - AROUND), 0)
        window = packed[:, first : first + AROUND]
        medians[:, begin : begin + BLOCK] = middle(window, value_counts(window))[:, None]
    return medians


def around(levels):
    """The lowest and the highest level of each night's block and those beside it."""
    low, high = levels.copy(), levels.copy()
    for here, beside in ((slice(None, -BLOCK), slice(BLOCK, None)),
                         (slice(BLOCK, None), slice(None, -BLOCK))):  # fmt: skip
        low[:, here] = np.minimum(low[:, here], levels[:, beside])
        high[:, here] = np.maximum(high[:, here], levels[:, beside])
    return low, high


def _median_of_five(a, b, c, d, e):
    """The least and the largest of four are no median: three are left.  Far faster than a sort."""
    low, high = np.minimum, np.maximum
    return _median_of_three(c, high(low(a, b), low(d, e)), low(high(a, b), high(d, e)))


def _median_of_three(a, b, c):
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def segment(values, sigma, limit, growth):
    """Places where one row without gaps changes: each begins a new level, with |z| > limit."""
    values = np.asarray(values, dtype=float)
    sums, changes, todo = Sums(values[None, :], growth), [], [(0, len(values))]
    while todo:
        left, right = todo.pop()
        place = sums.best_split(left, right, limit * sigma)
        if place:
            changes.append(place)
            todo += [(left, place), (place, right)]
    return _prune(sums, sorted(changes), len(values), limit * sigma)


def _prune(sums, places, length, limit):
    """Judged between its neighbours each change must still be sure; the least sure goes first."""
    while places:
        edges = [0, *places, length]
        z2 = [
            sums.z2(edges[i], edges[i + 2])[0, places[i] - edges[i] - 1]
            for i in range(len(places))
        ]
        weakest = int(np.argmin(z2))
        if z2[weakest] > limit**2:
            return places
        del places[weakest]
    return places


def p_value(z, freedom, questions):
    """Two-sided, paid for every question that was asked (Bonferroni)."""
    return np.minimum(1, 2 * stdtr(freedom, -np.abs(z)) * questions)


def limit_for(alpha, freedom, questions):
    """|z| whose p_value is alpha."""
    return -stdtrit(freedom, alpha / questions / 2)
