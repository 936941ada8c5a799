"""What all nodes of a fleet have in common each night, and what is left of each node."""

import numpy as np

from membw.statistics.change_points import middle
from membw.statistics.splits import value_counts

# Fewer nodes with the same software in one night have no median of their own.
LEAST_NODES = 5
ROUNDS = 2


def split(logs, software, base=0.0):
    """(level, majority, rest) of logarithms of rates, nodes x nights, less `base`.

    level: of the largest part of the fleet with the same software, a night each; NaN where
    fewer than LEAST_NODES reported. majority: the number of that software. rest: what is left
    of each node when its own part's level and its own usual distance from it are taken off:
    J. Tukey's median polish, within each software.
    """
    offset, alike = row_medians(logs), _alike(software)
    for _ in range(ROUNDS):
        level, majority, common = _levels(logs - offset[:, None], software, alike)
        rest = logs - common
        offset = row_medians(rest)
    rest -= offset[:, None]
    return level + np.median(base + offset), majority, rest


def row_medians(values):
    return middle(values, value_counts(values))


def _levels(values, software, alike):
    """A night's medians; nodes with a software that few others have join the largest part."""
    columns = np.ascontiguousarray(values.T)
    count = value_counts(columns)
    usual, many = middle(columns, count), count >= LEAST_NODES
    level = np.where(many & alike, usual.astype(float), np.nan)
    majority = np.where(many & alike, software.max(axis=0, initial=-1), -1)
    common = usual[None, :] if alike.all() else np.tile(usual, (len(values), 1))
    for night in np.flatnonzero(~alike):
        column, made = values[:, night], software[:, night]
        there = ~np.isnan(column)
        if there.sum() < LEAST_NODES:
            common[:, night] = np.median(column[there]) if there.any() else 0
            continue
        numbers, counts = np.unique(made[there], return_counts=True)
        majority[night] = numbers[counts.argmax()]
        common[:, night] = np.median(column[there & (made == majority[night])])
        level[night] = common[0, night]
        for number in numbers[(counts >= LEAST_NODES) & (numbers != majority[night])]:
            part = made == number
            common[part, night] = np.median(column[there & part])
    return level, majority, common


def _alike(software):
    """The nights in which all nodes have the same software."""
    high = software.max(axis=0, initial=-1)
    return ((software == high) | (software < 0)).all(axis=0)
