"""Screen, then confirm: which nodes are slow, by one measurement of all and three of the low ones.

LOW: a metric, or the mean of a node's metrics, is worse than the median of its peers by more than
half the margin, and by more robust deviations than chance gives one node of such a fleet.
FAIL: in a metric in which a node was LOW, the median of three further measurements is worse by
more than the margin, and by more robust deviations than chance gives any node in one fleet of a
hundred; else PASS.
SUSPECT: LOW, and not measured again; or in the slower of two groups, without a known reason.
The deviation is 1.4826 MAD of all nodes, at least 0.5 %. Bounds may clear a node, never condemn.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.plural import plural
from membw.results.table import HIGHER, Figure
from membw.results.verdict import FAIL, INVALID, PASS, SUSPECT, of_figure
from membw.statistics.peers import (
    confirming_limit,
    peers_medians,
    robust_deviation,
    screening_limit,
    sure_limit,
)

MARGIN = 0.03
AGAIN = 3  # further measurements of a LOW node
MEAN = 'mean'  # of a node's metrics, each as a part of its peers' median
FEW = 4  # nodes; of fewer, what is low three times is at least SUSPECT
# two groups: each more than a fifth of the nodes, of so many nodes or more
A_FIFTH, LEAST_GROUPS = 0.2, 10
# what may explain that nodes differ
FACTS = (
    'dimms', 'memory_channels', 'memory_gib', 'numa_nodes', 'microcode', 'kernel_release',
    'governor', 'thp', 'numa_balancing', 'code_sha256',
)  # fmt: skip
Provenance = Callable[[Figure], dict[str, str]]


class NodeVerdict(NamedTuple):
    """What is said of one node in one setting; losses are fractions, above 0: worse."""

    node: str
    verdict: str  # PASS, FAIL, SUSPECT, INVALID
    reason: str  # with the numbers to recompute it; '' where the first measurement passes
    setting: str
    figures: dict[str, float]  # of the first measurement, by metric
    loss: float = 0.0  # mean of its metrics, to its peers' medians
    metric: str = ''  # the one that decided; MEAN: all
    again: float | None = None  # the loss in `metric`, measured again


@dataclass
class Judgement:
    """`low`: the nodes to measure again; `groups`: those within which nodes were compared."""

    again: Sequence[Figure]
    margin: float
    provenance: Provenance | None
    verdicts: list[NodeVerdict] = field(default_factory=list)
    low: list[str] = field(default_factory=list)
    groups: 'list[Group]' = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def judge(
    first: Sequence[Figure],
    again: Sequence[Figure] = (),
    margin: float = MARGIN,
    provenance: Provenance | None = None,
) -> Judgement:
    """Of one measurement of every node, in any number of settings; in these nodes are compared."""
    found = Judgement(again, margin, provenance)
    settings: dict[str, list[Figure]] = defaultdict(list)
    for figure in first:
        settings[figure.setting].append(figure)
    for setting, figures in settings.items():
        valid = [f for f in figures if f.verdict == 'VALID']
        wrong = {f.node: f.reasons for f in figures if f.verdict != 'VALID'}
        found.verdicts += [
            NodeVerdict(node, INVALID, why, setting, {}) for node, why in sorted(wrong.items())
        ]
        if valid:
            _judge_setting(valid, found)
    return found


class Group:
    """The nodes of one setting: the loss of each in each metric and in their mean, to its peers.

    `losses`: nodes x columns, `deviations`: columns; NaN is not known.
    """

    def __init__(self, figures: Sequence[Figure], peers: set[str] | None = None) -> None:
        self.figures: dict[str, dict[str, Figure]] = defaultdict(dict)
        for figure in figures:
            self.figures[figure.node].setdefault(figure.metric, figure)
        self.nodes = sorted(self.figures)
        self.any = {f.metric: f for f in reversed(figures)}  # for unit and direction
        self.metrics = list(dict.fromkeys(f.metric for f in figures))
        self.columns = self.metrics + [MEAN] * (len(self.metrics) > 1)
        is_peer = np.array([peers is None or node in peers for node in self.nodes])
        self.peers = int(is_peer.sum())
        values = self._table(lambda f: f.value)
        estimates = self._table(lambda f: np.nan if f.is_bound else f.value)
        estimates[~is_peer] = np.nan
        self.medians = np.column_stack([peers_medians(column) for column in estimates.T])
        self.losses = self._with_mean(self._losses(values, self.medians))
        self.estimates = self._with_mean(self._losses(estimates, self.medians))
        self.deviations = robust_deviation(self.estimates)
        self.screening = screening_limit(self.peers)
        self.confirming = confirming_limit(self.peers, len(self.columns))

    def _table(self, value: Callable[[Figure], float]) -> NDArray:
        rows = (self.figures[node] for node in self.nodes)
        return np.array([[value(r[m]) if m in r else np.nan for m in self.metrics] for r in rows])

    def _losses(self, values: NDArray, medians: NDArray) -> NDArray:
        sign = np.array([1.0 if self.any[m].better == HIGHER else -1.0 for m in self.metrics])
        return sign * (1 - values / medians)

    def _with_mean(self, losses: NDArray) -> NDArray:
        if len(self.metrics) == 1:
            return losses
        return np.column_stack([losses, losses.mean(axis=1)])

    def losses_of(self, node: str, runs: Sequence[dict[str, Figure]]) -> NDArray:
        """runs x columns: further measurements of a node, to the same medians."""
        medians = self.medians[self.nodes.index(node)]
        values = [[r[m].value if m in r else np.nan for m in self.metrics] for r in runs]
        return self._with_mean(self._losses(np.array(values), medians))

    def smallest_fail(self, margin: float) -> float:
        """The smallest loss that can FAIL here, in the steadiest column."""
        known = self.deviations[~np.isnan(self.deviations)]
        return max(margin, self.confirming * float(min(known, default=0.0)))


# --- one setting ---------------------------------------------------------------------------


def _judge_setting(figures: list[Figure], found: Judgement) -> None:
    whole = Group(figures)
    slower = _slower_group(whole, found.margin)
    rest = [f for f in figures if f.node not in slower]
    if not slower:
        _judge_group(whole, found)
        return
    those = [f for f in figures if f.node in slower]
    is_slower = np.array([node in slower for node in whole.nodes])
    fast, slow = (np.nanmedian(whole.estimates[part, -1]) for part in (~is_slower, is_slower))
    lost = (slow - fast) / (1 - fast)
    text = f'{len(slower)} of {len(whole.nodes)} nodes are slower, their median by {lost:.1%}'
    fact = _difference(those, rest, found.provenance)
    compared = {f.node for f in those if f.reference is not None}
    if fact:
        found.notes.append(f'{text}; two groups: {fact}')
        _judge_group(Group(those), found)
        _judge_group(Group(rest), found)
    elif compared == slower:
        failing = {f.node for f in those if of_figure(f) == FAIL}
        found.notes.append(f'{text}; {len(failing)} of these are below their reference')
        peers = set(whole.nodes) - slower
        kept = [f for f in figures if f.node not in slower or f.node in failing]
        _judge_group(Group(kept, peers), found)
        passing = [f for f in those if f.node not in failing]
        if passing:
            _judge_group(Group(passing), found)
    else:
        found.notes.append(f'{text}: two groups, and no fact or reference says why')
        for node in sorted(slower):
            reason = f'{text}: look for what they have in common'
            found.verdicts.append(_verdict(whole, node, SUSPECT, reason, whole.columns[-1]))
        _judge_group(Group(rest), found)


def _slower_group(group: Group, margin: float) -> set[str]:
    """The slower of two groups; empty where there is one.

    Two groups: sorted by the mean of their metrics, the nodes have a gap wider than the margin
    and than chance gives any node by the deviations within, with more than a fifth on each side.
    """
    losses = group.estimates[:, -1]
    ordered = np.sort(losses[~np.isnan(losses)])
    count = len(ordered)
    if count < LEAST_GROUPS:
        return set()
    cuts = [i for i in range(1, count) if A_FIFTH * count < min(i, count - i)]
    cut = max(cuts, key=lambda i: ordered[i] - ordered[i - 1])
    fast, slow = ordered[:cut], ordered[cut:]
    within = np.concatenate([fast - np.median(fast), slow - np.median(slow)])
    limit = sure_limit(count) * float(robust_deviation(within))
    if slow[0] - fast[-1] <= max(margin, limit):
        return set()
    return {node for node, loss in zip(group.nodes, losses, strict=True) if loss >= slow[0]}


def _difference(some: list[Figure], rest: list[Figure], provenance: Provenance | None) -> str:
    """ "dimms '4 x 32 GiB', not '8 x 32 GiB'": the first fact without a value in common."""
    if provenance is None:
        return ''
    ours, theirs = ([provenance(f) for f in part] for part in (some, rest))
    for name in FACTS:
        one, other = ({p.get(name) for p in part} for part in (ours, theirs))
        if None not in one | other and not one & other:
            return f"{name} '{_most(ours, name)}', not '{_most(theirs, name)}'"
    return ''


def _most(provenances: list[dict[str, str]], name: str) -> str:
    values = [p[name] for p in provenances]
    return max(sorted(set(values)), key=values.count)


def _judge_group(group: Group, found: Judgement) -> None:
    found.groups.append(group)
    every = [f for row in group.figures.values() for f in row.values()]
    for number, node in enumerate(group.nodes):
        if len(group.nodes) == 1:
            reason = 'no other node of its setting to compare with'
            if ' build=unknown' in every[0].setting:
                reason = 'its build is not known: compared with no other node'
            found.verdicts.append(_verdict(group, node, SUSPECT, reason))
            continue
        if np.isnan(group.losses[number]).all():
            reason = 'only lower bounds to compare: measure again when the nodes are idle'
            found.verdicts.append(_verdict(group, node, SUSPECT, reason))
            continue
        low = _beyond(group, group.losses[number], found.margin / 2, group.screening)
        if not low.max() > 0:
            found.verdicts.append(_verdict(group, node, PASS, ''))
            continue
        found.low.append(node)
        verdict = _confirmed(group, number, low, found)
        if verdict.verdict != PASS:
            own = [f for f in every if f.node == node]
            fact = _difference(own, [f for f in every if f.node != node], found.provenance)
            verdict = verdict._replace(reason='; '.join(filter(None, [verdict.reason, fact])))
        found.verdicts.append(verdict)


def _beyond(group: Group, losses: NDArray, margin: float, limit: float) -> NDArray:
    """Per column the loss as a multiple of the larger limit; 0 within it, or not known."""
    limits = np.maximum(margin, limit * group.deviations)
    return np.where(losses > limits, losses / limits, 0.0)


def _confirmed(group: Group, number: int, low: NDArray, found: Judgement) -> NodeVerdict:
    """`low`: as _beyond has it, of the first measurement: these columns are measured again."""
    node, margin, column = group.nodes[number], found.margin, int(np.argmax(low))
    setting = group.any[group.metrics[0]].setting
    by_time: dict[float, dict[str, Figure]] = defaultdict(dict)
    for figure in found.again:
        if (figure.node, figure.setting, figure.verdict) == (node, setting, 'VALID'):
            by_time[figure.time][figure.metric] = figure
    runs = [run for run in by_time.values() if run.keys() >= group.figures[node].keys()]
    if len(runs) < AGAIN:
        text = _limits(margin / 2, 'half the margin', group.screening, group, column)
        done = f'measured again {plural(len(runs), "time")}' if runs else 'not measured again'
        reason = f'{_loss(group, number, column)}; {text}; {done}'
        return _verdict(group, node, SUSPECT, reason, group.columns[column])
    losses = np.median(group.losses_of(node, runs), axis=0)
    again = _beyond(group, losses, margin, group.confirming)
    still = np.where(low > 0, again, 0.0)
    if still[column] == 0 < still.max():
        column = int(np.argmax(still))
    verdict = FAIL if still.max() > 0 else PASS
    notes = []
    if verdict == PASS and group.peers < FEW and losses[column] > margin:
        verdict = SUSPECT
        notes = [f'{plural(group.peers - 1, "peer")} cannot decide it']
    metrics = group.metrics if group.columns[column] == MEAN else [group.columns[column]]
    if verdict == FAIL and any(r[m].is_bound for r in runs for m in metrics if m in r):
        verdict, notes = SUSPECT, ['a lower bound among these decides nothing']
    text = _limits(margin, 'margin', group.confirming, group, column)
    times = 'three times' if len(runs) == 3 else f'{len(runs)} times'
    more = f'measured again {times}: {_percent(group, column, losses[column])}'
    reason = '; '.join([_loss(group, number, column), text, more, *notes])
    return _verdict(group, node, verdict, reason, group.columns[column], float(losses[column]))


# --- in words ------------------------------------------------------------------------------


def _verdict(
    group: Group,
    node: str,
    verdict: str,
    reason: str,
    metric: str = '',
    again: float | None = None,
) -> NodeVerdict:
    number = group.nodes.index(node)
    figures = {m: f.value for m, f in group.figures[node].items()}
    loss = float(np.nan_to_num(group.losses[number, -1]))
    (some, *_) = group.figures[node].values()
    return NodeVerdict(node, verdict, reason, some.setting, figures, loss, metric, again)


def _loss(group: Group, number: int, column: int) -> str:
    """'triad 171.2 GB/s, median of its 63 peers 180.3: -5.0%'."""
    name, loss = group.columns[column], group.losses[number, column]
    peers = group.peers - (group.peers == len(group.nodes))
    percent = _percent(group, column, loss)
    if name == MEAN:
        return (
            f'mean of its {len(group.metrics)} metrics to the median of {peers} peers: {percent}'
        )
    figure = group.figures[group.nodes[number]][name]
    bound = figure.sign.replace('≥', '>=').replace('≤', '<=')
    median = f'median of its {plural(peers, "peer")} {group.medians[number, column]:.4g}'
    return f'{name} {bound}{figure.value:.4g} {figure.unit}, {median}: {percent}'


def _percent(group: Group, column: int, loss: float) -> str:
    """Of the figure: less of a rate, more of a time."""
    name = group.columns[column]
    better = group.any[group.metrics[0] if name == MEAN else name].better
    return f'{-loss if better == HIGHER else loss:+.1%}'


def _limits(margin: float, name: str, limit: float, group: Group, column: int) -> str:
    deviation = group.deviations[column]
    return f'{name} {100 * margin:.2g}%, limit {limit:.1f} robust deviations of {deviation:.2%}'
