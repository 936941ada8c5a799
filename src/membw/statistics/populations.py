"""Finds two or more populations in one group of nodes (two DIMM kits, say)."""

import numpy as np

from membw.statistics.robust import FLOOR, MAD_TO_SIGMA, median_mad

# Fewer nodes, or a smaller share, are slow nodes and not a second population.
MIN_NODES = 6
MIN_SHARE = 0.20
# Distance of the medians: at least 1 %, and in units of the spreads within the parts.
# K. Ashman, C. Bird, S. Zepf, AJ 108 (1994) call two parts distinct from 2 on; the halves of
# one normal population reach 2.3 with this measure, 5 in 1 % of fleets of 20 nodes.
MIN_DISTANCE = 0.01
MIN_ASHMAN_D = 5.0


def find_populations(values):
    """A label for each figure: 0 for the fastest population, then 1, ..."""
    values = np.asarray(values, dtype=float)
    labels = np.zeros(len(values), dtype=int)
    order = np.argsort(-values, kind='stable')
    start = 0
    for label, size in enumerate(_sizes(values[order])):
        labels[order[start : start + size]] = label
        start += size
    return labels


def _sizes(falling):
    cut = _best_cut(falling)
    if cut is None or not _distinct(falling[:cut], falling[cut:]):
        return [len(falling)]
    return _sizes(falling[:cut]) + _sizes(falling[cut:])


def _best_cut(falling):
    """Where two parts have the least squared error, if both are large enough.

    The tails are clipped: they are outliers and must not draw the cut.
    """
    count = len(falling)
    least = max(MIN_NODES, int(np.ceil(MIN_SHARE * count)))
    if count < 2 * least:
        return None
    clipped = np.clip(falling, *np.quantile(falling, [0.1, 0.9]))
    clipped = clipped - clipped.mean()
    cuts = np.arange(1, count)
    sums = np.cumsum(clipped)[:-1]
    # sum of squares is fixed: the least error within is the largest sum of n * mean^2
    best = int(cuts[np.argmax(sums**2 / cuts + sums**2 / (count - cuts))])
    return best if least <= best <= count - least else None


def _distinct(fast, slow):
    (high, high_mad), (low, low_mad) = median_mad(fast), median_mad(slow)
    spreads = [max(m / MAD_TO_SIGMA, FLOOR * high) for m in (high_mad, low_mad)]
    distance = high - low
    ashman = distance / np.sqrt((spreads[0] ** 2 + spreads[1] ** 2) / 2)
    return distance >= MIN_DISTANCE * high and ashman >= MIN_ASHMAN_D
