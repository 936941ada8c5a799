"""Nights far from the level of their row: how often, and whether a row has more of them now."""

import numpy as np
from scipy.special import bdtrc, ndtr

from membw.statistics.change_points import BLOCK, SAMPLE
from membw.statistics.splits import value_counts

OWN_WEIGHT = 20  # nights that what the others show is worth, beside a row's own
PAIRS = 3  # ... and bad nights, where a night resembles the one before
LEAST_OTHERS = 100  # figures of other rows that tell anything
# A row is intermittent when so many of its nights are bad, and so many times more than before.
SHARE, MOST, TIMES, LEAST_BAD = 0.10, 0.8, 3, 4
MOST_GOOD = 0.25  # nights that are as much too good, to one that is bad
MORE = 1.5  # times the bad nights that normal noise has, before they say anything
EXPECTED = 0.25  # what an intermittent row is first taken to have


class BadNights:
    """Distances from the levels of the rows that are healthy, as far as is known."""

    def __init__(self, distances, but=()):
        """`but`: rows that may have changed, unless that leaves too few."""
        rows = np.setdiff1d(np.arange(len(distances)), but)
        if len(rows) < max(3, len(distances) / 4):
            rows = np.arange(len(distances))
        self.rows = rows[:: max(1, len(rows) // SAMPLE)]
        self.distances = distances[self.rows]

    def knows_others(self, row):
        """Whether other rows tell how often nights are bad."""
        return self._figures(self.rows != row) >= LEAST_OTHERS

    def _figures(self, rows):
        return (~np.isnan(self.distances[rows])).sum()

    def share(self, row, own, depth):
        """(share of nights farther than `depth`, the share of those after such a night).

        `depth` with its sign; `own`: other nights of this row.
        """
        far = _far(self.distances[self.rows != row], depth)
        figures = self._figures(self.rows != row)
        mine = _far(own[None, :], depth)
        if figures >= LEAST_OTHERS:
            others = (far.sum() + 1) / (figures + 2)
            share = max(others, (mine.sum() + OWN_WEIGHT * others) / (own.size + OWN_WEIGHT))
        else:
            share = (mine.sum() + 1) / (own.size + 2)
        pairs = sum((f[:, 1:] & f[:, :-1]).sum() for f in (far, mine))
        after = (pairs + PAIRS * share) / (far.sum() + mine.sum() + PAIRS)
        return share, max(share, after)

    def chance(self, row, reference, excursion, normal):
        """That nights this far from the level of the others of the row are but bad nights.

        0 where so many lie there as noise with the standard deviation `normal` puts there.
        """
        depth = np.median(excursion) / 2
        share, again = self.share(row, reference, depth)
        if share <= MORE * ndtr(-abs(depth) / normal):
            return 0.0
        bad = _far(excursion[None, :], depth).sum()
        return share * (bdtrc(bad - 2, len(excursion) - 1, again) if bad > 1 else 1.0)


def _far(values, depth):
    return values * np.sign(depth) > abs(depth)


def restless(distances, depth, questions, alpha):
    """[(row, begin, end, share before, share)] of the rows with more bad nights than before.

    E. Page's cumulative sums, Biometrika 41 (1954), of the logarithms of the likelihood that a
    quarter of the nights are bad, in place of the share that the others have; clusters of bad
    nights count as fewer.
    """
    far = distances < -depth[:, None].astype(distances.dtype)
    number, healthy = np.count_nonzero(far, axis=1), BadNights(distances).rows
    there, own = value_counts(distances[healthy]), np.zeros((2, len(distances)))
    own[:, healthy] = there, number[healthy]
    others, bad = there.sum() - own[0], number[healthy].sum()
    share = (bad - own[1] + 1) / (others + 2)
    after = ((far[healthy, 1:] & far[healthy, :-1]).sum() + PAIRS * share) / (bad + PAIRS)
    expected = np.maximum(EXPECTED, TIMES * share)
    with np.errstate(divide='ignore', invalid='ignore'):
        up = np.log(expected / share) * (1 - np.minimum(after, 1))
        down = np.log((1 - np.minimum(expected, 0.99)) / (1 - share))
    limit = np.log(questions / alpha)
    # a sum rises by no more than `up` in each bad night: most rows have too few of them
    may = np.flatnonzero((number * up > limit) & (others >= LEAST_OTHERS) & (expected < MOST))
    quiet = np.where(np.isnan(distances[may]), 0, down[may, None])
    score = np.where(far[may], up[may, None], quiet)
    sums = np.hstack([np.zeros((len(may), 1)), np.cumsum(score, axis=1)])
    rises = sums - np.minimum.accumulate(sums, axis=1)
    for row, rise in zip(may, rises, strict=True):
        if rise.max() > limit:
            stretch = _stretch(far[row], distances[row] > depth[row], rise, share[row])
            if stretch:
                yield (row, *stretch)


def _stretch(far, good, rise, usual):
    """(begin, end, share before, share) of the nights in which the sum rises to its maximum."""
    end = int(rise.argmax())
    begin = int(np.flatnonzero(rise[:end] == 0)[-1])
    bad, share = far[begin:end].sum(), far[begin:end].mean()
    before = (far[:begin].sum() + OWN_WEIGHT * usual) / (begin + OWN_WEIGHT)
    if good[begin:end].sum() > MOST_GOOD * bad:
        return None  # it scatters, to both sides
    is_more = LEAST_BAD <= bad and SHARE <= share <= MOST and share >= TIMES * before
    return (begin, end, float(before), float(share)) if is_more and begin >= BLOCK else None
