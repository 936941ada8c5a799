"""What a node's own intervals support: measured again, it might read as its peers do.

Such a figure makes a node neither FAIL nor SUSPECT: it says that the node is to be measured again.
"""

import numpy as np

from membw.results.intervals import WIDE
from membw.results.metrics import node_rates

AGAIN = 'measure again'


def ends_of(run, metrics):
    """Ends of the intervals of a node's rates, 2 x ranks x metrics; the rate where it has none."""
    return np.array([
        [[r.spans.get(m.name, (r.rates[m.name],) * 2)[end] for m in metrics] for r in run]
        for end in range(2)
    ])  # fmt: skip


def totals(nodes, end):
    """Lower (0) or upper (1) ends of the whole nodes, nodes x metrics."""
    return np.array([node_rates(node.ends[end], node.metrics) for node in nodes])


def may_reach(node, rates):
    """Whether a node with a wide interval may be as fast as these rates of its peers.

    An interval as narrow as they come takes nothing back of what many nodes show together, nor
    does one without an end of what the other figures show.
    """
    ratio, upper = node.totals / rates, node_rates(node.ends[1], node.metrics) / rates
    if np.isinf(upper).all():
        return True
    worst = np.where(np.isinf(upper), np.inf, ratio).argmin()
    return bool(upper[worst] / ratio[worst] > 1 + WIDE and ratio[worst] < 1 <= upper[worst])


def may_be_below(node, group, times):
    """Whether it may be less than so many times as fast as the usual node of its group."""
    lower = node_rates(node.ends[0], node.metrics) / np.median(group.totals(), axis=0)
    return bool(lower.mean() < times and _half(node) > WIDE)


def only_supported(answers, nodes):
    """The Answers of low_nodes, without those to figures whose interval reaches the median."""
    reach = totals(nodes, 1) / np.median([node.totals for node in nodes], axis=0)
    ratio, q = answers.kernels
    answers.kernels = ratio, _without(q, ratio, reach)
    ends = np.where(np.isinf(reach), np.maximum(ratio, 1), reach)  # the others decide
    answers.every = _without(answers.every, ratio.mean(axis=1), ends.mean(axis=1))
    of_ranks, q = answers.ranks
    if of_ranks.size:
        upper = np.array([node.ends[1] for node in nodes])
        upper = upper / np.median([node.rates for node in nodes], axis=0)
        answers.ranks = of_ranks, _without(q, of_ranks, upper)
    return answers


def _without(q, ratio, reach):
    """q 1: nothing is held against it."""
    return np.where((ratio < 1) & (reach >= 1), 1.0, q)


def note(node):
    """Of a node that is low and not surely so."""
    half = _half(node)
    how_far = f'+{half:.1%}' if np.isfinite(half) else 'a figure that may be 0'
    return f'low, but its own interval ({how_far}) reaches its peers: {AGAIN}'


def _half(node):
    return float((node.ends[1] / node.rates).max()) - 1
