"""Which nodes of one group of like nodes are low, in what, and how sure."""

from dataclasses import dataclass

import numpy as np

from membw.statistics import tails

# One clean fleet in 100 may see a false alarm. Another chance is one of `membw rank`'s FAIL: a
# smaller one makes SUSPECT what it no longer fails.
ALPHA = 0.01
# The usual rate may be this far below the best one before a node is called unstable.
UNSTEADY = 0.05
# Hiccups are compared by their logarithm: some have ten times those of others.
LEAST_HICCUP = 0.002


@dataclass
class Answers:
    """q: for each figure the chance of any so low in a clean fleet, and the cautious one (tails),
    2 x the shape of the figures; ratio: to its median.

    One row a node; `ranks` are nodes x ranks x kernels, empty with one rank a node.
    """

    kernels: tuple  # (ratio, q): nodes x kernels
    ranks: tuple
    steady: tuple
    every: np.ndarray  # q of all kernels together

    @property
    def node_q(self):
        """q and cautious q, 2 x nodes."""
        parts = [self.every, *(t[1] for t in (self.kernels, self.ranks, self.steady))]
        parts = [part.reshape(*self.every.shape, -1) for part in parts]
        return np.concatenate(parts, axis=2).min(axis=2, initial=1.0)


def judge(rates, totals, steadiness, margin, share=1.0):
    """Answers for rates (nodes x ranks x kernels, larger is better) and those of whole nodes.

    `share`: of the fleet's nodes in this group.
    """
    count, ranks, kernels = rates.shape
    totals = _relative(totals)
    families = (1 + kernels / 2 + (kernels / 2 if ranks > 1 else 0)) / share
    q_totals = [
        tails.judge_low(totals[:, k], np.delete(totals, k, axis=1), margin, families)
        for k in range(kernels)
    ]
    q_every = tails.judge_low(totals.mean(axis=1), totals, margin, families)
    of_ranks = (
        _judge_ranks(rates, margin, families)
        if ranks > 1
        else (np.ones((count, 0, 0)), np.ones((2, count, 0, 0)))
    )
    return Answers(
        (totals, np.stack(q_totals, axis=2)),
        of_ranks,
        _judge_steadiness(steadiness, families),
        q_every,
    )


def _relative(values):
    return values / np.median(values, axis=0)


def _judge_ranks(rates, margin, families):
    """All ranks of a kernel are one sample, each relative to its place in the node."""
    count, ranks, kernels = rates.shape
    ratio = _relative(rates)
    alone = np.empty((count * ranks, 0))
    q = [tails.judge_low(ratio[:, :, k].ravel(), alone, margin, families) for k in range(kernels)]
    return ratio, np.stack(q, axis=2).reshape(2, count, ranks, kernels)


def _judge_steadiness(steadiness, families):
    hiccup = 1 / steadiness - 1
    usual = np.median(steadiness)
    unsteady = steadiness / usual < 1 - UNSTEADY
    if not unsteady.any():
        return steadiness / usual, np.ones((2, len(steadiness)))
    logs = np.log(np.maximum(hiccup, 0) + LEAST_HICCUP)
    column = 1 - (logs - np.median(logs)) / 100  # a spread of 1 in the logarithm reads as 1 %
    q = tails.judge_low(column, np.empty((len(column), 0)), 1e-9, families)
    return steadiness / usual, np.where(unsteady, q, 1.0)
