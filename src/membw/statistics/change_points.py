"""Finds where series change their level, thousands of series at once.

Seeded binary segmentation: S. Kovacs, P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023), with
the two-sample statistic that it shares with D. Hinkley, Biometrika 57 (1970), made robust:
isolated outliers are replaced first (F. Hampel, JASA 69 (1974); as a filter of width 5 they are
replaced when up to two of five neighbours are bad), the noise is estimated from the differences
of neighbours, which neither a step nor a drift inflates, by their MAD.
"""

import numpy as np
from scipy import stats

from membw.statistics.robust import MAD_EFFICIENCY, MAD_TO_SIGMA

LEAST = 3  # nights on each side: two bad nights are no change
WINDOW = 5
OUTLIER = 3.5  # Iglewicz and Hoaglin, 1993
# Differences of neighbours share a figure: they know two thirds of what as many figures know.
# J. von Neumann, Ann. Math. Stat. 12 (1941)
DIFFERENCE_EFFICIENCY = 2 / 3
# Relative noise taken for granted, and its weight as degrees of freedom: see robust.py.
PRIOR_SPREAD = 0.0075
PRIOR_WEIGHT = 6
# ... and where the noise of many like nodes tells what to take for granted
MANY, FLEET_WEIGHT = 20, 20
FLOOR = 0.0005
LEAST_FOR_MEMORY, MOST_MEMORY = 20, 0.8
CHUNK = 1024


def noise(values, many=MANY):
    """Standard deviation and degrees of freedom of each row; NaN: no value.

    The row's own estimate is averaged with what its like have: G. Smyth, SAGMB 3 (2004).
    """
    packed, count = pack(values)
    own = _middle(np.abs(np.diff(packed)), np.maximum(count - 1, 0)) / MAD_TO_SIGMA / np.sqrt(2)
    freedom = MAD_EFFICIENCY * DIFFERENCE_EFFICIENCY * np.maximum(count - 1, 0)
    told = own[count >= 2 * LEAST]
    fleet = len(told) >= many
    prior = max(float(np.median(told)), FLOOR) if fleet else PRIOR_SPREAD
    weight = FLEET_WEIGHT if fleet else PRIOR_WEIGHT
    own = np.where(count > 1, np.maximum(own, FLOOR), 0)
    sigma = np.sqrt((weight * prior**2 + freedom * own**2) / (weight + freedom))
    return sigma * _inflation(packed, count, own), weight + freedom


def _inflation(packed, count, own):
    """What nights that resemble the night before add to the noise of a mean; 1: nothing.

    As an autoregression of order 1, whose differences over two nights are sqrt(1 + rho) times
    those over one; rho is that of the median row, less twice its error, so that few figures
    claim no memory. Long-run variance: W. Newey, K. West, Econometrica 55 (1987).
    """
    rows = (count >= LEAST_FOR_MEMORY) & (own > FLOOR)
    if not rows.any():
        return 1.0
    over_two = _middle(np.abs(packed[rows, 2:] - packed[rows, :-2]), count[rows] - 2)
    ratio = over_two / MAD_TO_SIGMA / np.sqrt(2) / own[rows]
    rho = float(np.median(ratio**2 - 1)) - 3 / np.sqrt(count[rows].sum())
    rho = min(max(rho, 0.0), MOST_MEMORY)
    return np.sqrt(1 + rho) / (1 - rho)


def pack(values):
    """Values of each row moved to its left, NaN behind them; and their number."""
    there = ~np.isnan(values)
    order = np.argsort(~there, axis=1, kind='stable')
    return np.take_along_axis(values, order, axis=1), there.sum(axis=1)


def _middle(values, count):
    """Median of the first `count` in size of each row; NaN sorts last."""
    if not values.shape[1]:
        return np.zeros(len(values))
    rising = np.sort(values, axis=1)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
    pairs = np.take_along_axis(rising, np.stack([low, high], axis=1), axis=1)
    return np.where(count > 0, pairs.mean(axis=1), 0)


def without_outliers(values, sigma):
    """Values of each row with isolated outliers replaced by the median of five neighbours."""
    packed, count = pack(values)
    if packed.shape[1] < WINDOW:
        return values
    windows = np.lib.stride_tricks.sliding_window_view(packed, WINDOW, axis=1)
    medians = _median_of_five(*np.moveaxis(windows, 2, 0))
    half = WINDOW // 2
    place = np.arange(packed.shape[1])[None, :]
    # the first and last two share the window that ends with them
    centre = np.clip(place, half, np.maximum(count - 1 - half, half)[:, None]) - half
    usual = np.take_along_axis(medians, np.minimum(centre, medians.shape[1] - 1), axis=1)
    bad = np.abs(packed - usual) > OUTLIER * sigma[:, None]
    cleaned = values.copy()
    cleaned[~np.isnan(values)] = np.where(bad, usual, packed)[place < count[:, None]]
    return cleaned


def _median_of_five(a, b, c, d, e):
    """The least and the largest of four are no median: three are left.  Far faster than a sort."""
    low, high = np.minimum, np.maximum
    return _median_of_three(c, high(low(a, b), low(d, e)), low(high(a, b), high(d, e)))


def _median_of_three(a, b, c):
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def intervals(length):
    """Seeded intervals [left, right): halves, quarters, ..., each shifted by half of itself."""
    found, size = [(0, length)], length / 2
    while size >= 2 * LEAST:
        starts = np.arange(0, length - size + 1e-9, size / 2)
        found += [(int(np.floor(s)), int(np.ceil(s + size))) for s in starts]
        size /= 2
    return sorted({(left, min(right, length)) for left, right in found})


def strongest(values, sigma):
    """The largest |z| of any split of any seeded interval of each row."""
    best = np.zeros(len(values))
    for start in range(0, len(values), CHUNK):
        part = slice(start, start + CHUNK)
        sums = _Sums(values[part])
        for left, right in intervals(values.shape[1]):
            z2 = sums.z2(left, right)
            best[part] = np.maximum(best[part], z2.max(axis=1, initial=0))  # one night: no split
    return np.sqrt(best) / sigma


class _Sums:
    """Running sums of rows with gaps: sum and number of any interval at once."""

    def __init__(self, values):
        there = ~np.isnan(values)
        zero = np.zeros((len(values), 1))
        self.count = np.hstack([zero, np.cumsum(there, axis=1, dtype=float)])
        self.sum = np.hstack([zero, np.cumsum(np.where(there, values, 0), axis=1)])

    def z2(self, left, right):
        """Squared, for a noise of 1: rows x splits after left + 1, left + 2, ..., right - 1."""
        n1 = self.count[:, left + 1 : right] - self.count[:, left : left + 1]
        n = (self.count[:, right] - self.count[:, left])[:, None]
        n2 = n - n1
        s1 = self.sum[:, left + 1 : right] - self.sum[:, left : left + 1]
        total = (self.sum[:, right] - self.sum[:, left])[:, None]
        enough = (n1 >= LEAST) & (n2 >= LEAST)
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.where(enough, (s1 - n1 * (total / n)) ** 2 * n / (n1 * n2), 0)


def segment(values, sigma, limit):
    """Places where one row without gaps changes: each begins a new level, with |z| > limit."""
    values = np.asarray(values, dtype=float)
    sums, found, todo = _Sums(values[None, :]), [], [(0, len(values))]
    while todo:
        left, right = todo.pop()
        place = _best_split(sums, left, right, limit * sigma)
        if place:
            found.append(place)
            todo += [(left, place), (place, right)]
    return _prune(sums, sorted(found), len(values), limit * sigma)


def _best_split(sums, left, right, limit):
    best, place = limit**2, None
    for low, high in intervals(right - left) if right - left >= 2 * LEAST else ():
        z2 = sums.z2(left + low, left + high)[0]
        at = int(z2.argmax()) if z2.size else 0
        if z2.size and z2[at] > best:
            best, place = z2[at], left + low + at + 1
    return place


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
    return np.minimum(1, 2 * stats.t.sf(np.abs(z), freedom) * questions)


def limit_for(alpha, freedom, questions):
    """|z| whose p_value is alpha."""
    return stats.t.isf(alpha / questions / 2, freedom)
