"""Judges a fleet: which nodes are slower than their like, how far, how sure."""

from dataclasses import dataclass

import numpy as np

from membw.rank import fault_pattern as pattern
from membw.rank.groups import form_groups
from membw.rank.nodes import Node, assemble
from membw.statistics import robust
from membw.statistics.margin import MARGIN

ALPHA = 0.01  # statistical: one clean fleet in 100 may see a false alarm
# The usual rate may be this far below the best one before a node is called unstable.
UNSTEADY = 0.05


@dataclass
class Fleet:
    groups: list
    nodes: list
    warnings: list


def judge(records, expected=(), margin=MARGIN, alpha=ALPHA):
    """The verdict on every node of `records` and on every expected one without a record."""
    nodes = assemble(records)
    groups, warnings = form_groups([node for node in nodes if node.verdict == 'PASS'])
    _judge_groups(groups, margin, alpha)
    seen = {node.name for node in nodes}
    missing = [Node(n, 'MISSING', ['no record']) for n in expected if n not in seen]
    return Fleet(groups, nodes + missing, warnings)


def _judge_groups(groups, margin, alpha):
    """All nodes of the fleet enter one correction."""
    if not groups:
        return
    answers = [_Answers(group, margin) for group in groups]
    q = robust.adjust(np.concatenate([a.p_node for a in answers]))
    every = [(answer, i) for answer in answers for i in range(len(answer.p_node))]
    for (answer, i), node_q in zip(every, q.tolist(), strict=True):
        node = answer.group.nodes[i]
        node.q = node_q
        _verdict(node, answer, i, alpha)


class _Answers:
    """One row a node; columns: each rank's kernels (with two ranks or more), the node's kernels,
    the steadiness."""

    def __init__(self, group, margin):
        self.group = group
        rates = np.array([node.rates for node in group.nodes])
        count, ranks, self.kernels = rates.shape
        steady = np.array([[node.steadiness] for node in group.nodes])
        parts = [rates.reshape(count, -1)] if ranks > 1 else []
        self.ratio, self.z, p = robust.judge_low(np.hstack([*parts, group.totals(), steady]))
        self.first_total = self.ratio.shape[1] - 1 - self.kernels
        self.noise = float(np.median(np.abs(self.ratio[:, -2] - 1))) / robust.MAD_TO_SIGMA
        self.low = self.ratio < 1 - margin
        self.low[:, -1] = self.ratio[:, -1] < 1 - UNSTEADY
        # a question counts where the answer is practically low, but all that were asked are paid
        self.p = np.where(self.low, np.minimum(1, p * p.shape[1]), 1.0)
        self.p_node = self.p.min(axis=1)

    def of_ranks(self, table, i):
        """Ranks x kernels of node `i`."""
        return table[i, : self.first_total].reshape(-1, self.kernels)


def _verdict(node, answers, i, alpha):
    totals = answers.ratio[i, answers.first_total : -1]
    node.ratios = dict(zip(node.kernels, totals.tolist(), strict=True))
    low = answers.low[i] if answers.low[i].any() else slice(None)
    node.z = float(answers.z[i, low].min())
    if len(answers.group.nodes) == 1:
        node.notes.append('not compared: no other node like it')
    elif node.q <= alpha:
        node.verdict = 'FAIL'
        ratios, marks = (answers.of_ranks(t, i) for t in (answers.ratio, answers.p <= alpha))
        unsteady = answers.p[i, -1] <= alpha
        node.pattern = pattern.describe(node, ratios, marks, unsteady, answers.noise)
        node.notes[:0] = [node.pattern, _how_far(node, np.where(marks, ratios, 1))]
    elif answers.low[i].any():
        node.notes.insert(0, f'low, but not sure (q={node.q:.2g}): measure again')


def _how_far(node, ratios):
    """The lowest figures; `ratios` are ranks x kernels, 1 where nothing was flagged."""
    lowest = min(node.ratios, key=node.ratios.get)
    parts = [f'{lowest} {node.percent(lowest, node.ratios[lowest])}']
    if ratios.size and ratios.min() < min(1, node.ratios[lowest]):
        rank, kernel = np.unravel_index(ratios.argmin(), ratios.shape)
        name = node.kernels[kernel]
        parts.append(f'{name} of rank {rank} {node.percent(name, ratios.min())}')
    if node.pattern.startswith('unstable'):
        parts.append(f'usual rate {node.steadiness - 1:+.0%} to the best')
    return ', '.join(parts + [f'z={node.z:.1f}', f'q={node.q:.1g}'])
