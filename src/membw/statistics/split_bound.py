"""What no split of a row can be above: rows that it clears need no search.

Made for thousands of rows at once; of a healthy fleet it leaves few.
"""

from functools import lru_cache

import numpy as np

from membw.statistics.splits import CHUNK, LEAST, Sums, divisible, value_counts

# Each split of so many nights at most is looked at, and of longer intervals one in STEP, but near
# their ends, where a split of few nights is judged by its own nights.
EVERY_SPLIT, STEP, ENDS = 32, 4, 8
# In single precision: its largest error by far, as a share of |z|.
SLACK = 1e-4


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
        for left, right in sorted(divisible(width), key=lambda span: span[1] - span[0]):
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
        than `most`: by as much as the two differ (Cauchy's inequality)."""
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


TRIANGLE = np.tri(EVERY_SPLIT, dtype=np.float32)


def _sums(nights):
    """Sums of the first 0, 1, 2, ... nights of each row; nights x rows."""
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
