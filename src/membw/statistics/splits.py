"""How much the two parts of any split of seeded intervals differ, of thousands of rows at once.

S. Kovacs, P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023). Rows are packed: their values
first, NaN behind them.
"""

import numpy as np

LEAST = 3  # nights on each side: two bad nights are no change
CHUNK = 256  # rows at a time: what is computed of them stays in the cache of a core
SHORT = 16  # nights: intervals that are looked at together, as each has few splits
# In single precision: its largest error by far, as a share of |z| and of the largest running sum.
SLACK, ROUNDING = 1e-4, 1e-5


def chunks(rows):
    """Some rows at a time."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


class Screen:
    """Tells which rows may have a split stronger than a limit: all that have, and hardly others.

    In single precision and with the rows side by side, for a third of the work of `strongest`.
    """

    def __init__(self, width, growth):
        self.growth, self.spans = growth, []
        for left, right in intervals(width):
            n, n1 = right - left, np.arange(LEAST, right - left - LEAST + 1)
            if len(n1):
                scale = np.sqrt(n / (n1 * (n - n1))) / growth[np.minimum(n1, n - n1)]
                share, scale = (a[:, None].astype(np.float32) for a in (n1 / n, scale))
                self.spans.append((left, right, share, scale))
        self.spans.sort(key=lambda span: (span[1] - span[0] > SHORT, span[1]))
        # those of the short ones, one after the other: (left, split, right) and their weights
        short = [span for span in self.spans if span[1] - span[0] <= SHORT]
        self.ends = np.array([right for _, right, *_ in short], dtype=int)
        self.begins = np.cumsum([0, *(len(scale) for *_, scale in short)])
        self.places = np.hstack([_places(*span) for span in short] or [np.zeros((3, 0), int)])
        self.share = np.vstack([share for *_, share, _ in short] or [np.zeros((0, 1))])
        self.scale = np.vstack([scale for *_, scale in short] or [np.zeros((0, 1))])

    def may_exceed(self, packed, limit):
        """`packed`: values for a noise of 1, the longest rows first."""
        count = (~np.isnan(packed)).sum(axis=1)
        width, shortest = packed.shape[1], int(count.min(initial=packed.shape[1]))
        running = np.zeros((width + 1, len(packed)), dtype=np.float32)
        running[1:] = np.cumsum(packed, axis=1).T
        together = int(np.searchsorted(self.ends, shortest, side='right'))
        strong = self._of_short(running, self.begins[together])
        sums = None
        for left, right, share, scale in self.spans[together:]:
            whole = int(np.searchsorted(-count, -right, side='right'))
            if whole:
                begin, end = running[left, :whole], running[right, :whole]
                z = share * (begin - end)
                z += running[left + LEAST : right - LEAST + 1, :whole]
                z -= begin
                _raise(strong[:whole], z, scale)
            part = slice(whole, int(np.searchsorted(-count, -(left + 2 * LEAST), side='right')))
            if part.stop > part.start:
                sums = sums or Sums(packed, self.growth)
                z = sums.z(left, right, part).max(axis=1, initial=0)
                np.maximum(strong[part], z, out=strong[part])
        error = ROUNDING * np.nanmax(np.abs(running), axis=0)
        return strong * (1 + SLACK) + error > limit

    def _of_short(self, running, number):
        strong = np.zeros(running.shape[1], dtype=np.float32)
        if number:
            left, split, right = self.places[:, :number]
            begin = running[left]
            z = running[split]
            z -= begin
            begin -= running[right]
            begin *= self.share[:number]
            z += begin
            _raise(strong, z, self.scale[:number])
        return strong


def _places(left, right, share, scale):
    split = np.arange(left + LEAST, right - LEAST + 1)
    return np.stack([np.full(len(split), left), split, np.full(len(split), right)])


def _raise(strong, z, scale):
    """To the largest |z|, split by row, where that is more."""
    np.abs(z, out=z)
    z *= scale
    np.maximum(strong, z.max(axis=0), out=strong)


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
    count = (~np.isnan(packed)).sum(axis=1)
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


class Sums:
    """Running sums of rows with gaps: sum and number of any interval at once."""

    def __init__(self, values, growth):
        there = ~np.isnan(values)
        zero = np.zeros((len(values), 1))
        self.count = np.hstack([zero, np.cumsum(there, axis=1, dtype=float)])
        self.sum = np.hstack([zero, np.cumsum(np.where(there, values, 0), axis=1)])
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
