"""Nodes of a group that the figures do not show to be low, and that are not to be relied on."""

import numpy as np

from membw.statistics import tails
from membw.statistics.populations import MIN_NODES

TOO_FAST = 1.20  # to the median: no node is so much better than its peers
# ... and no noise takes this much: a busy process beside each thread halves a figure
TOO_SLOW = 0.25
SURE = 5.0  # spreads between two halves of a few nodes


def too_fast(ratio, alpha):
    """Which nodes are too fast to be true: another clock, another size, another machine.

    ratio: to the median of each kernel, nodes x kernels.
    """
    means = ratio.mean(axis=1)
    if len(means) < 3 or means.max() < TOO_FAST:
        return np.zeros(len(means), dtype=bool)
    q, _ = tails.judge_low(1 / means, 1 / ratio, 1 - 1 / TOO_FAST)
    return (q <= alpha) & (means > TOO_FAST)


def too_slow(ratio):
    """Which nodes are so far below their peers that not being sure is no excuse."""
    return ratio.mean(axis=1) < TOO_SLOW


def slower_half(totals, margin):
    """(slower nodes, the others) of two halves of a few nodes, where it cannot be told which is
    right; None where there are no two halves. totals: rates, nodes x kernels."""
    count, logs = len(totals), np.log(totals)
    if not 2 <= count < 2 * MIN_NODES:
        return None
    speed = logs.mean(axis=1)
    order = np.argsort(speed)
    for slow in range((count + 1) // 2, count - 1 if count > 2 else count):
        parts = order[:slow], order[slow:]
        if len(parts[1]) < 2 < count:
            continue
        apart = speed[parts[1]].min() - speed[parts[0]].max()
        if apart > max(-np.log1p(-margin), SURE * _noise(logs, parts)):
            return parts
    return None


def loss(totals, parts):
    """Of the fastest of the slower nodes to the slowest of the others: a negative fraction."""
    speed = np.log(totals).mean(axis=1)
    return float(np.expm1(speed[parts[0]].max() - speed[parts[1]].min()))


def _noise(logs, parts):
    """Spread between healthy nodes: as that of the kernels within nodes, or of each part."""
    inner = logs - logs.mean(axis=1, keepdims=True)
    inner = inner - inner.mean(axis=0)
    free = max(1, (logs.shape[0] - 1) * (logs.shape[1] - 1))
    kernels = np.sqrt(2 * (inner**2).sum() / free) if logs.shape[1] > 1 else 0.0
    within = [np.ptp(logs[p].mean(axis=1)) / 2 for p in parts if len(p) > 1]
    return max(tails.PRIOR_SPREAD, kernels, *within)
