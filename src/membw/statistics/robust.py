"""Robust statistics: what is typical, and how far figures lie around it."""

import numpy as np

# MAD / 0.6745 estimates the standard deviation of normal noise: Phi^-1(3/4).
# B. Iglewicz, D. Hoaglin, How to Detect and Handle Outliers, ASQC 1993.
MAD_TO_SIGMA = 0.6745
# MAD needs 1/0.37 times the figures that a standard deviation needs to be as sure of itself.
# P. Rousseeuw, C. Croux, Alternatives to the MAD, JASA 88 (1993), table 2.
MAD_EFFICIENCY = 0.37
# A spread of 0 (rounded or copied figures) would make every difference infinitely sure.
FLOOR = 0.001


def median_mad(values):
    """Median and median absolute deviation of each column."""
    values = np.asarray(values, dtype=float)
    median = np.median(values, axis=0)
    return median, np.median(np.abs(values - median), axis=0)
