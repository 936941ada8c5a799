"""How much the two parts of any split of seeded intervals differ, of thousands of rows at once.

S. Kovacs, P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023). Rows are packed: their values
first, NaN behind them.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

LEAST = 3  # nights on each side: two bad nights are no change
CHUNK = 256  # rows at a time: what is computed of them stays in the cache of a core
SHORT = 16  # nights: intervals that are looked at together, as each has few splits
# In single precision: its largest error by far, as a share of |z| and of the largest running sum.
SLACK, ROUNDING = 1e-4, 1e-5
# The bound looks at each split of so many nights at most, and of longer intervals at one in STEP,
# but near their ends, where a split of few nights is judged by its own nights.
EVERY_SPLIT, STEP, ENDS = 32, 4, 8


def chunks(rows):
    """Some rows at a time."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


class Bound:
    """What no |z| of a row is above, for a tenth of the work of `strongest`.

    Of long intervals one split in STEP is looked at. Between two of these the running sum lies
    from the line that joins them by no more than it does in any such stretch of the row (`bulge`),
    and so does its distance from the line that joins the ends of an interval: they differ by a
    line.
    """

    def __init__(self, width, growth):
        self.growth, self.slope = growth, 0.0
        self.most_weight = 1 / float(growth[LEAST:].min(initial=np.inf))
        self.short, self.long, at = [], [], 0  # (left, right, its rows, matrix)
        points, scales = [], []
        for left, right in sorted(_divisible(width), key=lambda span: span[1] - span[0]):
            if right - left <= EVERY_SPLIT:
                matrix, of_kind = _contrasts(right - left, growth), self.short
            else:
                those, matrix, scale, most = _points(left, right, growth)
                self.slope, of_kind = max(self.slope, most), self.long
                points.append(those)
                scales.append(scale)
            of_kind.append((left, right, slice(at, at + len(matrix)), matrix))
            at += len(matrix)
        self.number = at
        self.room = np.empty((2, at * CHUNK), np.float32)  # fresh memory takes half the time
        self.points = np.concatenate(points or [np.zeros(0, int)])
        self.scale = np.concatenate(scales or [np.zeros(0)])[:, None].astype(np.float32)

    def of(self, packed):
        """`packed`: values for a noise of 1, the longest rows first."""
        nights, count = np.ascontiguousarray(packed.T, dtype=np.float32), value_counts(packed)
        is_whole = count.min(initial=len(nights)) == len(nights)
        running = _sums(nights if is_whole else np.nan_to_num(nights, copy=False))
        shape = self.number, len(packed)
        z, lines = self.room[:, : self.number * len(packed)].reshape(2, *shape)
        for left, right, these, contrasts in self.short:
            np.matmul(contrasts, nights[left:right], out=z[these])
        if self.long:
            begin = self.number - len(self.points)
            for left, right, these, shares in self.long:
                np.matmul(shares, running[[left, right]], out=lines[these])
            np.take(running, self.points, axis=0, out=z[begin:], mode='clip')
            z[begin:] -= lines[begin:]
            z[begin:] *= self.scale
        if not is_whole:
            self._leave_out_ends(z, count)
        strong = np.abs(z, out=z).max(axis=0, initial=0)
        if self.long:
            strong += np.float32(self.slope) * _bulge(running)
        if not is_whole:
            self._look_at_ends(strong, packed, count)
        # each of so many sums is rounded by half of 2^-23; a |z| is made of three, a contrast of
        # as many products
        error = 4 * len(running) * 2.0**-24 * np.abs(running).max(axis=0, initial=0)
        return strong * (1 + SLACK) + error

    def beside(self, packed, other, growth, most):
        """Of rows of which `other` is nearly the same, whose |z| with that growth are no more
        than `most`: by as much as the two differ (A. Cauchy's inequality)."""
        ratio = float((growth / self.growth)[LEAST:].max(initial=0))
        distance = packed - other
        apart = np.sqrt(np.nansum(distance * distance, axis=1, dtype=float))
        return (most * ratio + apart * self.most_weight) * (1 + SLACK)

    def _leave_out_ends(self, z, count):
        for _, right, these, _ in (*self.short, *self.long):
            z[these, _first_below(count, right) :] = 0

    def _look_at_ends(self, strong, packed, count):
        """Intervals that reach behind the last night of a row."""
        sums = Sums(packed, self.growth)
        for left, right, *_ in (*self.short, *self.long):
            part = slice(_first_below(count, right), _first_below(count, left + 2 * LEAST))
            if part.stop > part.start:
                z = sums.z(left, right, part).max(axis=1, initial=0)
                np.maximum(strong[part], z, out=strong[part])


def _first_below(count, number):
    """How many of the rows, the longest first, have so many nights."""
    return int(np.searchsorted(-count, -number, side='right'))


@lru_cache
def _of_length(n):
    """(nights before each split of n of them, from the distance of its sum to |z|)."""
    n1 = np.arange(LEAST, n - LEAST + 1)
    return n1, np.sqrt(n / (n1 * (n - n1)))


def _contrasts(n, growth):
    """splits x n nights: what makes z of them."""
    n1, scale = _of_length(n)
    first = np.arange(n) < n1[:, None]
    scale = scale / growth[np.minimum(n1, n - n1)]
    return ((first - (n1 / n)[:, None]) * scale[:, None]).astype(np.float32)


def _points(left, right, growth):
    """(the splits of an interval that are looked at; what of its ends' sums each has, were its
    nights alike; the largest scale of all that each stands for; of these the largest with others
    beside it)."""
    n1, scale = _of_length(right - left)
    scale = scale / growth[np.minimum(n1, right - left - n1)]
    first = (left + ENDS) // STEP * STEP
    grid = np.arange(first, right - ENDS + STEP, STEP)
    ends = np.r_[left + LEAST : first, grid[-1] + 1 : right - LEAST + 1]
    points = np.concatenate([ends, grid])
    of_grid = [
        scale[max(g - STEP, first) - left - LEAST : min(g + STEP, grid[-1]) - left - LEAST + 1]
        for g in grid
    ]
    largest = np.array([part.max() for part in of_grid])
    share = (points - left) / (right - left)
    return (
        points,
        np.stack([1 - share, share], axis=1).astype(np.float32),
        np.concatenate([scale[ends - left - LEAST], largest]),
        float(largest.max()),
    )


def _running(nights):
    """Sums of the first 0, 1, 2, ... nights of each row; nights x rows."""
    running = np.zeros((len(nights) + 1, nights.shape[1]), nights.dtype)
    for before, night, after in zip(running, nights, running[1:], strict=False):
        np.add(before, night, out=after)  # a sixth of the time of cumsum()
    return running


TRIANGLE = np.tri(EVERY_SPLIT, dtype=np.float32)


def _sums(nights):
    """The same, in single precision, of nights that all have a value: faster."""
    running = np.zeros((len(nights) + 1, nights.shape[1]), np.float32)
    for begin in range(0, len(nights), EVERY_SPLIT):
        part = nights[begin : begin + EVERY_SPLIT]
        sums = running[begin + 1 : begin + 1 + len(part)]
        np.matmul(TRIANGLE[: len(part), : len(part)], part, out=sums)
        sums += running[begin]
    return running


def _bulge(running):
    """How far each row lies from the lines that join one night in STEP."""
    lines = running[::STEP]
    begin, step = lines[:-1], np.diff(lines, axis=0) / np.float32(STEP)
    most = np.zeros(running.shape[1], np.float32)
    for i in range(1, STEP):
        off = running[i::STEP][: len(begin)] - begin
        off -= np.float32(i) * step
        np.maximum(most, np.abs(off, out=off).max(axis=0, initial=0), out=most)
    return most


class Screen:
    """Tells which rows may have a split stronger than a limit: all that have, and hardly others.

    In single precision and with the rows side by side, for a third of the work of `strongest`.
    """

    def __init__(self, width, growth):
        self.growth, self.splits = growth, _splits(width)
        scale = self.splits.scale / growth[self.splits.shorter]
        self.scale = scale.astype(np.float32)[:, None]

    def may_exceed(self, packed, limit):
        """`packed`: values for a noise of 1, the longest rows first."""
        count, splits = value_counts(packed), self.splits
        _width, shortest = packed.shape[1], int(count.min(initial=packed.shape[1]))
        # a copy in double precision: numpy adds what is of two kinds at a fifth of the speed
        running = _running(np.ascontiguousarray(packed.T, dtype=float)).astype(np.float32)
        together = int(np.searchsorted(splits.short, shortest, side='right'))
        strong, sums = self._of_short(running, splits.begins[together]), None
        # nights that fill a span, and that give it a split: rows that have so many
        nights = splits.spans[together:, ::-1] + (0, 2 * LEAST)
        rows = np.searchsorted(-count, -nights, side='right').tolist()
        spans = zip(splits.spans[together:].tolist(), rows, strict=True)
        for i, ((left, right), (whole, some)) in enumerate(spans, together):
            if whole:
                these = slice(*splits.begins[i : i + 2])
                begin, end = running[left, :whole], running[right, :whole]
                z = splits.share[these] * (begin - end)
                z += running[left + LEAST : right - LEAST + 1, :whole]
                z -= begin
                _raise(strong[:whole], z, self.scale[these])
            if some > whole:
                part = slice(whole, some)
                sums = sums or Sums(packed, self.growth)
                z = sums.z(left, right, part).max(axis=1, initial=0)
                np.maximum(strong[part], z, out=strong[part])
        error = ROUNDING * np.nanmax(np.abs(running), axis=0)
        return strong * (1 + SLACK) + error > limit

    def _of_short(self, running, number):
        strong = np.zeros(running.shape[1], dtype=np.float32)
        if number:
            left, split, right = self.splits.places[:, :number]
            begin = running[left]
            z = running[split]
            z -= begin
            begin -= running[right]
            begin *= self.splits.share[:number]
            z += begin
            _raise(strong, z, self.scale[:number])
        return strong


class Splits(NamedTuple):
    """Every split of every seeded interval, one interval after the other, the short ones first."""

    spans: np.ndarray  # left and right of each interval
    short: np.ndarray  # right of each short one
    begins: np.ndarray  # of each interval in the rest
    places: np.ndarray  # left, split and right of each split
    shorter: np.ndarray  # nights of its shorter part
    share: np.ndarray  # of its first part
    scale: np.ndarray  # from the distance of its sum to |z|, of white noise


@lru_cache
def _splits(width):
    every = sorted(_divisible(width), key=lambda span: (span[1] - span[0] > SHORT, span[1]))
    spans, begins, places = _of_spans(every)
    n1, n = places[1] - places[0], places[2] - places[0]
    return Splits(
        spans=spans,
        short=spans[spans[:, 1] - spans[:, 0] <= SHORT, 1],
        begins=begins,
        places=places,
        shorter=np.minimum(n1, n - n1),
        share=(n1 / n).astype(np.float32)[:, None],
        scale=np.sqrt(n / (n1 * (n - n1))),
    )


def _divisible(width):
    """The seeded intervals that are long enough for a split."""
    return [(left, right) for left, right in intervals(width) if right - left >= 2 * LEAST]


def _of_spans(every):
    """(spans, where the splits of each begin among all, left, split and right of every split)."""
    spans = np.array(every, dtype=int).reshape(-1, 2)
    many = spans[:, 1] - spans[:, 0] - 2 * LEAST + 1
    begins = np.append(0, np.cumsum(many))
    left, right = np.repeat(spans, many, axis=0).T
    split = left + LEAST + np.arange(begins[-1]) - np.repeat(begins[:-1], many)
    return spans, begins, np.stack([left, split, right])


@lru_cache
def _in_order(width):
    """Left, split and right of every split of the seeded intervals, as these come."""
    return _of_spans(_divisible(width))[2]


def _raise(strong, z, scale):
    """To the largest |z|, split by row, where that is more."""
    np.abs(z, out=z)
    z *= scale
    np.maximum(strong, z.max(axis=0), out=strong)


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
