"""What all nodes of a fleet have in common each night, and what is left of each node."""

import numpy as np

from membw.statistics.change_points import middle

# Fewer nodes with the same software in one night have no median of their own.
LEAST_NODES = 5
ROUNDS = 2


def split(logs, software):
    """(level, majority, rest) of logarithms of rates, nodes x nights.

    level: of the largest part of the fleet with the same software, a night each; NaN where
    fewer than LEAST_NODES reported. majority: the number of that software. rest: what is left
    of each node when its own part's level and its own usual distance from it are taken off:
    J. Tukey's median polish, within each software.
    """
    offset = row_medians(logs)
    for _ in range(ROUNDS):
        level, majority, common = _levels(logs - offset[:, None], software)
        offset = row_medians(logs - common)
    return level + np.median(offset), majority, logs - common - offset[:, None]


def row_medians(values):
    return middle(values, (~np.isnan(values)).sum(axis=1))


def _levels(values, software):
    """A night's medians; nodes with a software that few others have join the largest part."""
    nights = values.shape[1]
    level, majority = np.full(nights, np.nan), np.full(nights, -1)
    common = np.empty_like(values)
    made, alike = software.max(axis=0, initial=-1), _alike(software)
    columns = np.ascontiguousarray(values.T[alike])
    count = (~np.isnan(columns)).sum(axis=1)
    usual, many = middle(columns, count), count >= LEAST_NODES
    common[:, alike] = usual
    level[alike] = np.where(many, usual, np.nan)
    majority[alike] = np.where(many, made[alike], -1)
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
