"""Judges a fleet: which nodes are slower than comparable ones, how far, how sure."""

from dataclasses import dataclass, field

import numpy as np

from membw.moments import day
from membw.rank import attendance, doubts, support
from membw.rank import fault_pattern as pattern
from membw.rank import links as between
from membw.rank.groups import form_groups
from membw.rank.nodes import Node, assemble, units_of
from membw.statistics import low_nodes, tails
from membw.statistics.low_nodes import ALPHA
from membw.statistics.margin import MARGIN


@dataclass
class Fleet:
    groups: list
    nodes: list
    warnings: list
    problems: list = field(default_factory=list)  # of the records; no node's own
    links: between.Links = field(default_factory=between.Links)  # between nodes, where measured


@dataclass(frozen=True)
class Rule:
    """What is held against a fleet."""

    margin: float = MARGIN
    alpha: float = ALPHA
    populations: bool = False  # slower parts are meant
    max_age_days: float = attendance.MAX_AGE_DAYS


def judge(records, expected=(), margin=MARGIN, alpha=ALPHA, rule=None, now=None):
    """The verdict on every node of `records` and on every expected one without a record."""
    rule = rule or Rule(margin, alpha)
    past, future = attendance.without_future(records, now)
    past, links = between.judge(past, rule.margin, rule.alpha)
    problems = attendance.shared_names(units_of(past), rule.max_age_days)
    nodes = assemble(past, problems)
    _leave_out_stale(nodes, rule)
    _note_future(nodes, future, problems)
    passing = [node for node in nodes if node.verdict == 'PASS']
    groups, warnings = form_groups(passing, rule.margin, rule.populations)
    _judge_groups(groups, rule)
    doubts.of_groups(groups)
    seen = {node.name for node in nodes}
    missing = [Node(n, 'MISSING', ['no record']) for n in expected if n not in seen]
    return Fleet(groups, nodes + missing, warnings + links.warnings, problems, links)


def _leave_out_stale(nodes, rule):
    silent = attendance.stale(nodes, rule.max_age_days)
    for node in nodes:
        if node.name in silent:
            node.verdict = 'MISSING'
            node.notes.append(silent[node.name])


def _note_future(nodes, future, problems):
    """Records of a clock that is ahead: they may not hide what was measured since."""
    seen = {node.name for node in nodes}
    for host in sorted({r.host for r in future}):
        when = day(max(r.time for r in future if r.host == host))
        text = f'a record of {when}, later than today, is left out'
        if host in seen:
            problems.append(f'{host}: {text}')
        else:
            nodes.append(Node(host, 'INVALID', [text]))


def _judge_groups(groups, rule):
    """All nodes of the fleet share one budget of false alarms, by their number."""
    total = sum(len(group.nodes) for group in groups)
    for group in groups:
        if len(group.nodes) == 1:
            group.nodes[0].ratios = dict.fromkeys(group.kernels, 1.0)
            continue
        answers = _Answers(group, rule.margin, len(group.nodes) / total)
        for i in range(len(group.nodes)):
            _verdict(group.nodes[i], answers, i, rule.alpha)
        doubts.of_few(group, rule.margin)
        doubts.of_fast(group, answers.judged.kernels[0], rule.alpha)
        doubts.of_slow(group, answers.judged.kernels[0])


class _Answers:
    """Of one group, as low_nodes has them."""

    def __init__(self, group, margin, share):
        rates = np.array([node.rates for node in group.nodes])
        steadiness = np.array([node.steadiness for node in group.nodes])
        judged = low_nodes.judge(rates, group.totals(), steadiness, margin, share)
        unheld = judged.node_q
        self.judged = support.only_supported(judged, group.nodes)
        self.q, self.cautious_q = self.judged.node_q
        self.taken_back = unheld[0] < self.q  # by the node's own interval
        ratio = self.judged.kernels[0]
        spread = np.median(np.abs(ratio - 1), axis=0) / tails.MAD_TO_SIGMA
        self.spread = np.maximum(spread, tails.FLOOR)
        self.low = (ratio < 1 - margin).any(axis=1)
        if self.judged.ranks[0].size:
            self.low |= (self.judged.ranks[0] < 1 - margin).any(axis=(1, 2))


def _verdict(node, answers, i, alpha):
    (ratio, _), (ranks, ranks_q), (_, steady_q) = (
        answers.judged.kernels, answers.judged.ranks, answers.judged.steady,
    )  # fmt: skip
    node.ratios = dict(zip(node.kernels, ratio[i].tolist(), strict=True))
    node.z = float(((ratio[i] - 1) / answers.spread).min())
    node.q = float(answers.cautious_q[i])
    suspect = max(alpha, ALPHA)
    if answers.q[i] <= suspect:
        marks = ranks_q[0, i] <= suspect
        noise = float(answers.spread[-1])
        unsteady = steady_q[0, i] <= suspect
        node.pattern = pattern.describe(node, ranks[i], marks, unsteady, noise)
        if node.q <= alpha:
            node.verdict = 'FAIL'
        else:
            doubts.of_low(node, len(answers.low))
        node.notes[:0] = [node.pattern, _how_far(node, np.where(marks, ranks[i], 1))]
    elif answers.low[i]:
        unsure = f'low, but not sure (q={node.q:.2g}): {support.AGAIN}'
        node.notes.insert(0, support.note(node) if answers.taken_back[i] else unsure)


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
