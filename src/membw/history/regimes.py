"""Series of a machine with states: one for each, where its runs go to and fro between them.

A latency that changes once and stays is a change of the node, and remains in its series.
"""

import numpy as np

from membw.results import regimes


def parts(node, day, pair):
    """[(what to add to the label, rows)] of a group's runs, in order.

    `pair` is the latency of the nearest cores in ns, 0: not known, below 0: the run crossed.
    """
    if not pair.any():
        return [('', np.ones(len(pair), dtype=bool))]
    values, of_value = np.unique(np.round(pair, 1), return_inverse=True)
    groups = regimes.groups(values.tolist())
    if len(groups) < 2:
        return [('', np.ones(len(pair), dtype=bool))]
    of_run = np.array([regimes.number(value, groups) for value in values])[of_value]
    if not _go_to_and_fro(node, day, of_run):
        return [('', np.ones(len(pair), dtype=bool))]
    usual = np.bincount(of_run[of_run >= 0]).argmax()
    of_run[pair == 0] = usual  # older runs, of before it was measured
    return [
        (f', nearest cores {regimes.text(group)} apart', of_run == i)
        for i, group in enumerate(groups)
    ]


def _go_to_and_fro(node, day, of_run):
    """Whether any node left a state and came back to it."""
    known = of_run >= 0
    order = np.lexsort((day[known], node[known]))  # stable: within a day as they came
    node, of_run = node[known][order], of_run[known][order]
    moves = (node[1:] == node[:-1]) & (of_run[1:] != of_run[:-1])
    return bool(len(moves)) and bool(np.bincount(node[1:][moves]).max(initial=0) >= 2)
