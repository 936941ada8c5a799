"""The distance of a figure from its peers, and the distance that chance alone explains."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats takes twice as long to load

from membw.statistics import MAD_TO_SIGMA

# rounded or copied figures have no spread: 0.5 % is as steady as a node gets from run to run
LEAST_DEVIATION = 0.005
OF_MEDIAN = 1.57  # variance of a median of n (times 1/n), in that of one figure
FALSE_ALARMS = 0.01  # of a clean fleet, any node, any metric


def robust_deviation(values: NDArray) -> NDArray:
    """1.4826 MAD of each column of fractions, at least LEAST_DEVIATION; NaN is not known."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', RuntimeWarning)  # a column of NaN: its deviation is NaN
        middle = np.nanmedian(values, axis=0)
        mad = np.nanmedian(np.abs(values - middle), axis=0)
    return np.maximum(MAD_TO_SIGMA * mad, LEAST_DEVIATION)


def peers_medians(values: NDArray) -> NDArray:
    """For each value of a column the median of the other ones; NaN stays where one is alone.

    NaN values have no rank: theirs is the median of all that are known.
    """
    known = values[~np.isnan(values)]
    ordered, count = np.sort(known), len(known) - 1  # peers of a known value
    every = np.full(len(values), np.median(known) if len(known) else np.nan)
    if count < 1:
        every[~np.isnan(values)] = np.nan
        return every
    place = np.searchsorted(ordered, known)
    low, high = (count - 1) // 2, count // 2  # of the peers, in order
    ends = [ordered[np.where(place > k, k, k + 1)] for k in (low, high)]
    every[~np.isnan(values)] = (ends[0] + ends[1]) / 2
    return every


def screening_limit(nodes: int) -> float:
    """Robust deviations beyond which chance puts one of so many nodes: Student's t."""
    return max(-float(stdtrit(nodes - 1, 1 / nodes)), 0.0) if nodes > 1 else 0.0


def sure_limit(nodes: int, metrics: int = 1) -> float:
    """Robust deviations beyond which chance puts any node in any metric of a clean fleet, with a
    probability of FALSE_ALARMS."""
    if nodes < 2:
        return np.inf
    return -float(stdtrit(nodes - 1, FALSE_ALARMS / (nodes * metrics)))
