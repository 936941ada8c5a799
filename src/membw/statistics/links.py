"""What of the time between two nodes is the one's, the other's, and the link's between them."""

import itertools

import numpy as np
from scipy.sparse import csgraph

from membw.statistics.margin import MARGIN
from membw.statistics.populations import find_populations
from membw.statistics.robust import MAD_TO_SIGMA, median_mad

SWEEPS, SETTLED = 50, 1e-9
LEVEL_ROUNDS = 10
# how far behind a few nodes must be to be a group: what noise of one link cannot make up for
GROUP_MARGIN, GROUP_SIGMAS = MARGIN, 6
# with fewer, a link cannot be told from its nodes: it is one of three of each
LEAST_NODES = 5


def switches(logs):
    """(number of the switch of each node, distance of each pair of nodes) by the links' times:
    distance 0 behind one switch, then 1, ... the slower; all 0 where no populations show.

    Nodes that any chain of links of the fastest population joins are behind one switch, and how
    far two switches are apart most links between them say. A node that is far from all others is
    slow, and behind the switch that it is least far from.
    """
    count = len(logs)
    upper = np.triu(~np.isnan(logs), 1)
    labels = np.full((count, count), -1)
    labels[upper] = find_populations(np.exp(logs[upper] - np.median(logs[upper])))
    if labels.max() < 1:
        return np.zeros(count, dtype=int), np.zeros((count, count), dtype=int)
    of_switch, of_node = csgraph.connected_components(labels == 0, directed=False)
    several = [k for k in range(of_switch) if (of_node == k).sum() > 1]
    for alone in np.flatnonzero(~np.isin(of_node, several)) if several else ():
        near = [np.nanmedian(logs[alone, of_node == k]) for k in several]
        of_node[alone] = several[int(np.argmax(near))]
    distance = np.zeros((count, count), dtype=int)
    for one, other in itertools.combinations(several, 2):
        between = (of_node == one)[:, None] & (of_node == other)
        between_them = np.maximum(labels, labels.T)[between]
        if (between_them >= 0).any():
            distance[between | between.T] = np.bincount(between_them[between_them >= 0]).argmax()
    return of_node, distance


def small_groups(logs):
    """As switches(), for groups that are too small to be a population: a few nodes that are slow
    with all others, and with each other are not. Each group has distances of its own."""
    effects, residuals = polish(logs)
    behind = np.nanmedian(effects) - effects
    _, mad = median_mad(residuals[np.triu(~np.isnan(residuals), 1)])
    far = behind > max(GROUP_MARGIN, GROUP_SIGMAS * mad / MAD_TO_SIGMA)
    # of two slow nodes a link would lose what both are behind, of a group it loses nothing
    lost = 2 * np.nanmedian(effects) - logs
    joined = far & far[:, None] & (lost < (behind + behind[:, None]) / 4)
    _, of_node = csgraph.connected_components(joined, directed=False)
    groups = [k for k in range(of_node.max() + 1) if (of_node == k).sum() > 1]
    number = np.zeros(len(logs), dtype=int)
    for place, k in enumerate(groups, start=1):
        number[of_node == k] = place
    high, low = np.maximum.outer(number, number), np.minimum.outer(number, number)
    # 0: the same; else a number for each two groups, of which 0 is all that are in none
    return number, np.where(high == low, 0, high * (high - 1) // 2 + low + 1)


def split(logs, distance):
    """(effects of the nodes, those of the distances, residuals) of logarithms of rates: log =
    effect of the one + of the other + of their distance, 0 for the nearest, + residual."""
    apart = ~np.isnan(logs)
    np.fill_diagonal(apart, False)
    # first of all: else the nodes of a small switch would pay for it
    of_level = [logs[apart & (distance == k)] for k in range(distance.max() + 1)]
    levels = np.array([np.median(rates) if rates.size else np.nan for rates in of_level])
    for _ in range(LEVEL_ROUNDS if len(levels) > 1 else 1):
        effects, residuals = polish(logs - levels[distance])
        for level in range(len(levels)):
            left = residuals[distance == level]
            if not np.isnan(left).all():
                levels[level] += np.nanmedian(left)
    # what all links have in common is the nodes'
    return effects + levels[0] / 2, levels - levels[0], residuals


def polish(logs):
    """(effects, residuals) of logarithms of rates, nodes x nodes, symmetric, NaN where there is
    none: log = effect of the one + effect of the other + residual.

    J. Tukey's median polish, with one effect per node for row and column. A residual is to
    effects that this link had no part in: a slow link of few does not pull them to itself.
    """
    logs = np.array(logs, dtype=float)
    np.fill_diagonal(logs, np.nan)
    effects = _medians(logs) / 2
    for _ in range(SWEEPS):
        before = effects.copy()
        for i in range(len(logs)):
            rest = (logs[i] - effects)[~np.isnan(logs[i])]
            effects[i] = np.median(rest) if len(rest) else np.nan
        if np.nanmax(np.abs(effects - before), initial=0) < SETTLED:
            break
    alone = _without_each(logs - effects)
    return effects, logs - alone - alone.T


def _medians(logs):
    present = ~np.isnan(logs)
    return np.array([np.median(row[p]) if p.any() else np.nan for row, p in zip(logs, present)])


def _without_each(values):
    """Medians of each row, each time without the value of that column."""
    medians = np.full(values.shape, np.nan)
    for i, row in enumerate(values):
        (at,) = np.nonzero(~np.isnan(row))
        if len(at) < 2:
            continue
        order = np.argsort(row[at], kind='stable')
        rising, place = row[at][order], np.empty(len(at), dtype=int)
        place[order] = np.arange(len(at))
        low, high = (len(at) - 2) // 2, (len(at) - 1) // 2
        medians[i, at] = (rising[low + (place <= low)] + rising[high + (place <= high)]) / 2
    return medians
