"""Nodes that set no tolerance: what `membw rank` would FAIL or call SUSPECT by their figures."""

import numpy as np

from membw.statistics import doubtful_nodes, low_nodes
from membw.statistics.low_nodes import ALPHA
from membw.statistics.margin import MARGIN

FOREIGN = 3.0  # times more or less than the others: another unit or another machine
LEAST = 3  # of two nodes, nobody can tell which is foreign


def find(metrics, totals, ranks, steady):
    """{node: why}, nodes by their place.

    totals: rates of whole nodes, nodes x metrics. ranks: nodes x ranks x metrics, None where a
    node is one. steady: the usual rate to the best one, nodes.
    """
    if len(totals) < 2:
        return {}
    ratio = totals / np.median(totals, axis=0)
    parts = totals[:, None] if ranks is None else ranks
    judged = low_nodes.judge(parts, totals, steady, MARGIN)
    doubts = (  # the first that holds is said
        (_foreign(ratio), lambda i: _of_foreign(metrics, ratio[i])),
        (judged.node_q[0] <= ALPHA, lambda i: _of_low(metrics, judged, i)),
        (doubtful_nodes.too_slow(ratio), lambda i: _of_mean(ratio[i])),
        (doubtful_nodes.too_fast(ratio, ALPHA),
         lambda i: f'is too fast to be true ({ratio[i].mean() - 1:+.1%})'),
    )  # fmt: skip
    return {i: why(i) for which, why in reversed(doubts) for i in np.flatnonzero(which)}


def _foreign(ratio):
    return (np.abs(np.log(ratio)) > np.log(FOREIGN)).any(axis=1) & (len(ratio) >= LEAST)


def _of_foreign(metrics, ratio):
    worst = np.abs(np.log(ratio)).argmax()
    far = metrics[worst].figure(ratio[worst])
    return f'reads {far:.3g} times what the others do (another unit, or another machine)'


def _of_low(metrics, judged, i):
    """The lowest of the figures that show it."""
    (ratio, q), (ranks, ranks_q), (steady, steady_q) = judged.kernels, judged.ranks, judged.steady
    said = {ratio[i].mean(): _of_mean(ratio[i])} if judged.every[0, i] <= ALPHA else {}
    for k in np.flatnonzero(q[0, i] <= ALPHA):
        said[ratio[i, k]] = f'is slow ({metrics[k].name} {metrics[k].percent(ratio[i, k])})'
    for rank, k in np.argwhere(ranks_q[0, i] <= ALPHA):
        percent = metrics[k].percent(ranks[i, rank, k])
        said[ranks[i, rank, k]] = f'is slow ({metrics[k].name} of rank {rank} {percent})'
    if not said and steady_q[0, i] <= ALPHA:
        return f'is unsteady (its usual rate to the best {steady[i] - 1:+.1%} to that of others)'
    return said[min(said)]


def _of_mean(ratio):
    return f'is slow (mean of its kernels {ratio.mean() - 1:+.1%})'
