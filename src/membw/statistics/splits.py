"""How much the two parts of any split of seeded intervals differ, of thousands of rows at once.

S. Kovacs, P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023). Rows are packed: their values
first, NaN behind them.
"""

from functools import lru_cache

import numpy as np

LEAST = 3  # nights on each side: two bad nights are no change
CHUNK = 256  # rows at a time: what is computed of them stays in the cache of a core


def chunks(rows):
    """Some rows at a time."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def divisible(width):
    """The seeded intervals that are long enough for a split."""
    return [(left, right) for left, right in intervals(width) if right - left >= 2 * LEAST]


@lru_cache
def _in_order(width):
    """Left, split and right of every split of the seeded intervals, as these come."""
    spans = np.array(divisible(width), dtype=int).reshape(-1, 2)
    many = spans[:, 1] - spans[:, 0] - 2 * LEAST + 1
    begins = np.cumsum(many) - many
    left, right = np.repeat(spans, many, axis=0).T
    return np.stack([left, left + LEAST + np.arange(many.sum()) - np.repeat(begins, many), right])


@lru_cache
def intervals(length):
    """Seeded intervals [left, right): halves, quarters, ..., each shifted by half of itself."""
    spans, size = [(0, length)], length / 2
    while size >= 2 * LEAST:
        starts = np.arange(0, length - size + 1e-9, size / 2)
        spans += [(int(np.floor(s)), int(np.ceil(s + size))) for s in starts]
        size /= 2
    return sorted({(left, min(right, length)) for left, right in spans})


def strongest(packed, sigma, growth):
    """The largest |z| of any split of any seeded interval of each row."""
    count = value_counts(packed)
    order, best = np.argsort(-count, kind='stable'), np.zeros(len(packed))
    for part in chunks(order):
        sums, strong = Sums(packed[part], growth), np.zeros(len(part))
        for left, right in intervals(packed.shape[1]):
            whole = int(np.searchsorted(-count[part], -right, side='right'))
            for rows, z in ((slice(None, whole), sums.z_of_whole),
                            (slice(whole, None), sums.z)):  # fmt: skip
                if len(strong[rows]):
                    z = z(left, right, rows).max(axis=1, initial=0)  # one night: no split
                    np.maximum(strong[rows], z, out=strong[rows])
        best[part] = strong
    return best / sigma


def value_counts(values):
    """Of values in each row."""
    return np.count_nonzero(~np.isnan(values), axis=1)


def running_sums(values):
    """Sums of the first 0, 1, 2, ... of each row, in double precision."""
    return np.hstack([np.zeros((len(values), 1)), np.cumsum(values, axis=1, dtype=float)])


class Sums:
    """Running sums of rows with gaps: sum and number of any interval at once."""

    def __init__(self, values, growth):
        there = ~np.isnan(values)
        self.count = running_sums(there)
        self.sum = running_sums(np.where(there, values, 0))
        self.weight = 1 / growth**2

    def z2(self, left, right, rows=slice(None)):
        """Squared, for a noise of 1: rows x splits after left + 1, left + 2, ..., right - 1."""
        count, sums = self.count[rows], self.sum[rows]
        n1 = count[:, left + 1 : right] - count[:, left : left + 1]
        n = (count[:, right] - count[:, left])[:, None]
        n2 = n - n1
        s1 = sums[:, left + 1 : right] - sums[:, left : left + 1]
        total = (sums[:, right] - sums[:, left])[:, None]
        enough = (n1 >= LEAST) & (n2 >= LEAST)
        shorter = np.minimum(np.arange(1, right - left), np.arange(right - left - 1, 0, -1))
        with np.errstate(divide='ignore', invalid='ignore'):
            z2 = (s1 - n1 * (total / n)) ** 2 * (n * self.weight[shorter]) / (n1 * n2)
        return np.where(enough, z2, 0)

    def z(self, left, right, rows):
        """|z| of some rows."""
        return np.sqrt(self.z2(left, right, rows))

    def z_of_whole(self, left, right, rows):
        """The same of rows that have a value in each of these nights: far faster."""
        n = right - left
        n1 = np.arange(LEAST, n - LEAST + 1)
        if not len(n1):
            return np.zeros((len(self.sum[rows]), 0))
        scale = np.sqrt(n * self.weight[np.minimum(n1, n - n1)] / (n1 * (n - n1)))
        begin = self.sum[rows, left, None]
        total = self.sum[rows, right, None] - begin
        z = total * (-n1 / n)
        z += self.sum[rows, left + LEAST : right - LEAST + 1]
        z -= begin
        np.abs(z, out=z)
        z *= scale
        return z

    def best_split(self, left, right, least):
        """Where the first row, which has a value in each of these nights, has its largest |z|
        of any split of a seeded interval; None where it is not above `least`."""
        begin, split, end = left + _in_order(right - left)
        if not len(split):
            return None
        n1, n, sums = split - begin, end - begin, self.sum[0]
        scale = np.sqrt(n * self.weight[np.minimum(n1, n - n1)] / (n1 * (n - n1)))
        z = (sums[end] - sums[begin]) * (-n1 / n)
        z += sums[split]
        z -= sums[begin]
        np.abs(z, out=z)
        z *= scale
        place = int(z.argmax())
        return int(split[place]) if z[place] > least else None
