"""How noisy the nodes of a fleet are in a night, all of them at once."""

import numpy as np

from membw.statistics.change_points import SAMPLE, pack
from membw.statistics.median_polish import LEAST_NODES, row_medians
from membw.statistics.robust import MAD_TO_SIGMA
from membw.statistics.splits import value_counts

TIMES = 2.0  # as noisy as usual: less is chance


def of_nights(tables):
    """(standard deviation of each night, kernels x nights, NaN where fewer than LEAST_NODES
    tell; times as noisy as usual, 1 for most nights); `tables`: nodes x nights of each kernel.

    Of each night the smaller of the distances from the night before and to the night after:
    where nodes change their level in one night, only one of them is large.
    """
    shape = len(tables), tables[0].shape[1]
    if len(tables[0]) < LEAST_NODES or shape[1] < 2:
        return np.full(shape, np.nan), np.ones(shape[1])
    some = slice(None, None, max(1, len(tables[0]) // SAMPLE))
    spreads = np.array([_of_kernel(table[some]) for table in tables])
    times = np.nan_to_num(spreads / _usual(spreads)).mean(axis=0)
    return spreads, np.where(times >= TIMES, times, 1.0)


def _usual(spreads):
    usual = row_medians(spreads)
    return np.where(usual > 0, usual, np.inf)[:, None]


def _of_kernel(table):
    packed, _, columns = pack(table)
    moved = np.abs(np.diff(packed))
    usual = row_medians(moved)
    typical = np.median(usual)  # a node counts by how much more it moves than it usually does
    moved = moved * (typical / np.where(usual > 0, usual, np.inf))[:, None]
    before = _medians_of_nights(moved, columns[:, 1:], table.shape)
    after = _medians_of_nights(moved, columns[:, :-1], table.shape)
    before[:1], after[-1:] = after[:1], before[-1:]
    return np.minimum(before, after) / MAD_TO_SIGMA / np.sqrt(2)


def _medians_of_nights(moved, columns, shape):
    of_night = np.full(shape, np.nan)
    np.put_along_axis(of_night, columns, moved, axis=1)
    nights = np.ascontiguousarray(of_night.T)
    return np.where(value_counts(nights) >= LEAST_NODES, row_medians(nights), np.nan)
