"""Robust statistics: what is typical, how far off is a figure, how sure are we."""

import numpy as np
from scipy.special import stdtr

# MAD / 0.6745 estimates the standard deviation of normal noise: Phi^-1(3/4).
# B. Iglewicz, D. Hoaglin, How to Detect and Handle Outliers, ASQC 1993.
MAD_TO_SIGMA = 0.6745
# MAD needs 1/0.37 times the figures that a standard deviation needs to be as sure of itself.
# P. Rousseeuw, C. Croux, Alternatives to the MAD, JASA 88 (1993), table 2.
MAD_EFFICIENCY = 0.37
# A spread of 0 (rounded or copied figures) would make every difference infinitely sure.
FLOOR = 0.001
# Before looking, healthy nodes are taken to differ by 0.75 %, with the weight of 6 degrees of
# freedom: it steadies the spread of a few nodes and vanishes among hundreds.  Tuned on synthetic
# fleets (tests/membw/rank): one node of four at -5 % is found, and clean fleets stay within the
# budget of false alarms up to a noise of 1 %.
PRIOR_SPREAD = 0.0075
PRIOR_WEIGHT = 6


def median_mad(values):
    """Median and median absolute deviation of each column."""
    values = np.asarray(values, dtype=float)
    median = np.median(values, axis=0)
    return median, np.median(np.abs(values - median), axis=0)


def moderated_spread(median, mad, count):
    """Spread (as a standard deviation) and its degrees of freedom.

    The measured variance is averaged with the prior's, each by its degrees of freedom:
    G. Smyth, Linear models and empirical Bayes methods, SAGMB 3 (2004), here with a fixed prior.
    """
    freedom = MAD_EFFICIENCY * (count - 1)
    measured = np.maximum(mad / MAD_TO_SIGMA, FLOOR * median)
    variance = PRIOR_WEIGHT * (PRIOR_SPREAD * median) ** 2 + freedom * measured**2
    return np.sqrt(variance / (PRIOR_WEIGHT + freedom)), PRIOR_WEIGHT + freedom


def judge_low(values):
    """How low is each figure in its column: ratio to the median, modified z, one-sided p."""
    values = np.asarray(values, dtype=float)
    median, mad = median_mad(values)
    spread, freedom = moderated_spread(median, mad, len(values))
    z = (values - median) / spread
    return values / median, z, stdtr(freedom, z)


def adjust(p_values):
    """Benjamini-Hochberg: p values corrected for the number of questions asked.

    Flagging all that are <= alpha keeps the expected share of false alarms among the flagged
    under alpha, and in a fleet without a bad node the chance of any alarm at all.
    Y. Benjamini, Y. Hochberg, JRSS B 57 (1995); holds for kernels that rise and fall together:
    Y. Benjamini, D. Yekutieli, Ann. Statist. 29 (2001).
    """
    from scipy import stats  # half a second to load: not for a history

    p_values = np.asarray(p_values, dtype=float)
    return stats.false_discovery_control(p_values) if p_values.size else p_values
