"""Screen, then confirm: which nodes are slow, by one measurement of all and three of the low ones.

LOW: a metric, or the mean of a node's metrics, is worse than the median of its peers by more than
half the margin, and by more robust deviations than chance gives one node of such a fleet.
FAIL: in a metric in which a node was LOW, each of three further measurements is worse than the
median of the healthy nodes measured again with it by more than the margin and half a robust
deviation, and than two of these; else PASS.
SUSPECT: LOW, and not measured again three times.
UNDECIDED: nothing to compare with: no peer, bounds alone, no peer in its state of the host; it
lacks a metric that most nodes have; its figure may be worse (not-proven); or it is slow with
others, as a unit or the slower of two groups, and nothing says which is right.
The deviation is 1.4826 MAD of all nodes, at least 0.5 %. Bounds may clear a node, never condemn.
Peers are in one state of the host (results/regimes.py).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.printable import plural
from membw.rank.units import Unit, by_name
from membw.results.hostlist import fold
from membw.results.regimes import state, states, text
from membw.results.table import HIGHER, Figure
from membw.results.verdict import FAIL, PASS, SUSPECT, UNDECIDED
from membw.statistics.peers import peers_medians, robust_deviation, screening_limit, sure_limit

MARGIN = 0.03
AGAIN = 3  # further measurements of a LOW node
AGAIN_BETTER = 4  # of so many further measurements one may be within the margin
MEAN = 'mean'  # of a node's metrics, each as a part of its peers' median
# robust deviations: so many beyond the margin, as noise seldom lifts a node near it so far; and so
# many in all, in fleets that scatter
BEYOND, LEAST = 0.5, 2.0
CONTROLS = 3  # healthy nodes that are measured again with the LOW ones
FEW = 4  # nodes; fewer cannot decide which of them is slow, and are no unit
MOST_OF = 0.75  # of a unit's nodes are LOW: it is slow as a whole
# two groups: each more than a fifth of the nodes, of so many nodes or more
A_FIFTH, LEAST_GROUPS = 0.2, 10
# what may explain that nodes differ
FACTS = (
    'dimms', 'memory_channels', 'memory_gib', 'numa_nodes', 'microcode', 'kernel_release',
    'governor', 'thp', 'numa_balancing', 'code_sha256',
)  # fmt: skip
Provenance = Callable[[Figure], dict[str, str]]
Units = Callable[[Sequence[str]], list[Unit]]
Run = dict[str, Figure]  # one measurement of a node, by metric
State = tuple[float, ...] | None


class NodeVerdict(NamedTuple):
    """What is said of one node in one setting; losses are fractions, above 0: worse."""

    node: str
    verdict: str  # PASS, FAIL, SUSPECT, UNDECIDED, INVALID
    reason: str  # with the numbers to recompute it; '' where the first measurement passes
    setting: str
    figures: dict[str, float]  # of the first measurement, by metric
    loss: float = 0.0  # mean of its metrics, to its peers' medians
    metric: str = ''  # the one that decided; MEAN: all
    again: float | None = None  # the loss in `metric`, measured again


@dataclass
class Judgement:
    """`low`: the nodes to measure again; `groups`: those within which nodes were compared."""

    margin: float
    provenance: Provenance | None
    units: Units
    verdicts: list[NodeVerdict] = field(default_factory=list)
    low: list[str] = field(default_factory=list)
    controls: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    groups: 'list[Group]' = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    split: str = ''  # two groups, and nothing says which is right


def judge(
    first: Sequence[Figure],
    again: Sequence[Figure] = (),
    margin: float = MARGIN,
    provenance: Provenance | None = None,
    units: Units = by_name,
) -> Judgement:
    """Of one measurement of every node, in any number of settings; in these nodes are compared.

    `Judgement.controls`: {setting: healthy nodes to measure with the LOW ones}.
    """
    found = Judgement(margin, provenance, units)
    settings: dict[str, list[Figure]] = defaultdict(list)
    for figure in first:
        settings[figure.setting].append(figure)
    further: dict[str, list[Figure]] = defaultdict(list)
    for figure in again:
        if not unusable(figure):
            further[figure.setting].append(figure)
    for setting, figures in settings.items():
        wrong = {f.node: why for f in figures if (why := unusable(f))}
        valid = [f for f in figures if f.node not in wrong]
        found.verdicts += [
            NodeVerdict(node, *why, setting, {}) for node, why in sorted(wrong.items())
        ]
        if valid:
            _Setting(valid, further[setting], found).judge()
    return found


def unusable(figure: Figure) -> tuple[str, str] | None:
    """(word, reason) of a figure that clears no node and condemns none."""
    if figure.verdict != 'VALID':
        return figure.verdict, figure.reasons
    too_good = f'{figure.metric} {figure.sign}{figure.value:.5g} {figure.unit}: it may be worse'
    return (UNDECIDED, too_good) if figure.may_be_worse else None


class Group:
    """The nodes of one setting: the loss of each in each metric and in their mean, to its peers.

    `losses`: nodes x columns, `deviations`: columns; NaN is not known.
    """

    def __init__(
        self, figures: Sequence[Figure], peers: set[str] | None = None, state: State = ()
    ) -> None:
        self.state = state  # of the host; None: of several
        self.figures: dict[str, dict[str, Figure]] = defaultdict(dict)
        for figure in figures:
            self.figures[figure.node].setdefault(figure.metric, figure)
        self.nodes = sorted(self.figures)
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.any = {f.metric: f for f in reversed(figures)}  # for unit and direction
        self.metrics = list(dict.fromkeys(f.metric for f in figures))
        self.columns = self.metrics + [MEAN] * (len(self.metrics) > 1)
        is_peer = np.array([peers is None or node in peers for node in self.nodes])
        self.peers = int(is_peer.sum())
        self.peer_names = {n for n, is_one in zip(self.nodes, is_peer, strict=True) if is_one}
        values = self._table(lambda f: f.value)
        estimates = self._table(lambda f: np.nan if f.is_bound else f.value)
        estimates[~is_peer] = np.nan
        self.medians = np.column_stack([peers_medians(column) for column in estimates.T])
        self.losses = self._with_mean(self._losses(values, self.medians))
        self.estimates = self._with_mean(self._losses(estimates, self.medians))
        self.deviations = robust_deviation(self.estimates)
        self.screening = screening_limit(self.peers)

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

    def losses_of(self, node: str, run: Run) -> NDArray:
        """By column: a further measurement of a node, to the medians of the first."""
        if node in self.figures:
            medians = self.medians[self.numbers[node]]
        else:
            medians = np.nanmedian(self.medians, axis=0)
        values = np.array([run[m].value if m in run else np.nan for m in self.metrics])
        return self._with_mean(self._losses(values[None, :], medians))[0]

    def lacks(self, node: str) -> list[str]:
        """Metrics that more than half of the nodes have, and this one has not."""
        every = self.figures.values()
        usual = [m for m in self.metrics if 2 * sum(m in of for of in every) > len(self.nodes)]
        return [m for m in usual if m not in self.figures[node]]

    def fail_limits(self, margin: float) -> NDArray:
        """By column: the loss beyond which a node FAILs."""
        return np.maximum(margin + BEYOND * self.deviations, LEAST * self.deviations)


# --- one setting ---------------------------------------------------------------------------


class _Setting:
    """What is known of the nodes of one setting: first and further measurements, states."""

    def __init__(self, figures: list[Figure], again: list[Figure], found: Judgement) -> None:
        self.figures, self.found = figures, found
        self.beside: dict[Group, tuple[list[str], NDArray | None]] = {}
        self.states = states(f.pair_ns for f in (*figures, *again))
        self.runs: dict[str, dict[tuple, Run]] = defaultdict(lambda: defaultdict(dict))
        for f in again:
            self.runs[f.node][f.time, f.file, f.line][f.metric] = f
        by_state: dict[State, list[Figure]] = defaultdict(list)
        for f in figures:
            by_state[state(f.pair_ns, self.states)].append(f)
        self.whole = {
            of: Group(same, state=of)
            for of, same in by_state.items()
            if not self.states or (of and len({f.node for f in same}) >= FEW)
        }

    def judge(self) -> None:
        begin, ours = len(self.found.verdicts), {n for w in self.whole.values() for n in w.nodes}
        if self.states:
            names = ', '.join(text(span) for span in self.states)
            self.found.notes.append(
                f'the host was in {len(self.states)} states (nearest cores {names} apart): nodes '
                'are compared within one'
            )
        for whole in self.whole.values():
            self._by_groups(whole)
        everybody = Group(self.figures, state=None) if self.states else self.whole[()]
        if odd := [node for node in everybody.nodes if node not in ours]:
            self._judge_group(everybody, odd, 'in a state of the host without peers')
        own = self.found.verdicts[begin:]
        self.found.verdicts[begin:] = _together(own, everybody, self.found)

    def _by_groups(self, whole: Group) -> None:
        """Nodes of one state of the host: one group, or two."""
        found, figures = self.found, _figures_of(whole, whole.nodes)
        slower = _slower_group(whole, found.margin)
        if not slower:
            self._judge_group(whole, whole.nodes)
            return
        peers = set(whole.nodes) - slower
        those, rest = _figures_of(whole, slower), _figures_of(whole, peers)
        is_slower = np.array([node in slower for node in whole.nodes])
        fast, slow = (np.nanmedian(whole.estimates[part, -1]) for part in (~is_slower, is_slower))
        lost = (slow - fast) / (1 - fast)
        said = f'{len(slower)} of {len(whole.nodes)} nodes are slower, their median by {lost:.1%}'
        fact = _difference(those, rest, found.provenance)
        if fact:
            found.notes.append(f'{said}; two groups: {fact}')
            self._judge_group(Group(those, state=whole.state), sorted(slower))
            self._judge_group(Group(rest, state=whole.state), sorted(peers))
        else:
            said = f'{said}: two groups, and no fact says why'
            found.notes.append(said)
            found.split = said
            group = Group(figures, peers, whole.state)
            self._judge_group(group, sorted(peers))
            self._judge_group(group, sorted(slower), f'{said}: look for what they share', True)

    def _judge_group(
        self, group: Group, nodes: Sequence[str], why: str = '', are_many: bool = False
    ) -> None:
        """The verdicts on these nodes of a group. `why`: they cannot be told from their peers;
        `are_many`: it stands for each of them."""
        found, healthy = self.found, []
        if group not in found.groups:
            found.groups.append(group)
        every_low = _beyond(group, group.losses, found.margin / 2, group.screening)
        for node in nodes:
            number = group.numbers[node]
            if len(group.nodes) == 1 or np.isnan(group.losses[number]).all():
                reason = (
                    'no other node of its setting: nothing to compare with'
                    if len(group.nodes) == 1
                    else 'only lower bounds: nothing to compare with, measure again when idle'
                )
                if len(group.nodes) == 1 and ' build=unknown' in self.figures[0].setting:
                    reason = 'its build is not known: compared with no other node'
                found.verdicts.append(_verdict(group, node, UNDECIDED, reason))
                continue
            low = every_low[number]
            if not low.max() > 0:
                lacks = group.lacks(node)
                said = f'no {", ".join(lacks)}, which its peers have' if lacks else ''
                found.verdicts.append(_verdict(group, node, UNDECIDED if lacks else PASS, said))
                if node in group.peer_names and not np.isnan(group.estimates[number]).any():
                    healthy.append((abs(group.estimates[number, -1]), node))
                continue
            found.low.append(node)
            verdict = self._confirmed(group, number, low)
            if why and verdict.verdict != PASS:
                word = UNDECIDED if verdict.verdict == FAIL else verdict.verdict
                done = {SUSPECT: 'not measured again three times', FAIL: 'low again three times'}
                parts = ['' if are_many else verdict.reason, why, done.get(verdict.verdict, '')]
                said = '; '.join(filter(None, parts if are_many else parts[:2]))
                verdict = verdict._replace(verdict=word, reason=said)
            elif verdict.verdict != PASS:
                every = _figures_of(group, group.nodes)
                own = [f for f in every if f.node == node]
                fact = _difference(own, [f for f in every if f.node != node], found.provenance)
                verdict = verdict._replace(reason='; '.join(filter(None, [verdict.reason, fact])))
            found.verdicts.append(verdict)
        setting = self.figures[0].setting
        found.controls[setting] += [node for _, node in sorted(healthy)[:CONTROLS]]

    def _losses_again(self, group: Group, node: str) -> tuple[list[NDArray], list[Run], int]:
        """(losses of each further run that can be compared, these runs, how many cannot)."""
        wanted = group.figures[node].keys()
        every = [run for run in self.runs[node].values() if run.keys() >= wanted]
        losses, used = [], []
        for run in every:
            of = state(next(iter(run.values())).pair_ns, self.states)
            place = group if group.state == of else self.whole.get(of)
            if place:
                losses.append(place.losses_of(node, run))
                used.append(run)
        return losses, used, len(every) - len(used)

    def _beside(self, group: Group) -> tuple[list[str], NDArray | None]:
        """(healthy nodes that were measured again, the median of their losses by column)."""
        names, losses = [], []
        for node in sorted(self.runs):
            if node not in group.peer_names:
                continue
            of = group.losses[group.numbers[node]]
            low = _beyond(group, of, self.found.margin / 2, group.screening)
            found, used, _ = self._losses_again(group, node)
            is_bound = any(f.is_bound for run in used for f in run.values())
            if len(found) >= AGAIN and not is_bound and not low.max() > 0:
                names.append(node)
                losses.append(np.median(found, axis=0))
        return names, np.median(losses, axis=0) if losses else None

    def _confirmed(self, group: Group, number: int, low: NDArray) -> NodeVerdict:
        """`low`: as _beyond has it, of the first measurement: these columns are measured again."""
        node, margin, column = group.nodes[number], self.found.margin, int(np.argmax(low))
        every, runs, apart = self._losses_again(group, node)
        if len(runs) < AGAIN:
            screened = (
                f'half the margin {50 * margin:.2g}%, limit {group.screening:.2f} robust '
                f'deviations of {group.deviations[column]:.3%}'
            )
            count = len(runs) + apart
            done = f'measured again {plural(count, "time")}' if count else 'not measured again'
            done += f', {apart} in states of the host without peers' * bool(apart)
            reason = f'{_loss(group, number, column)}; {screened}; {done}'
            word = SUSPECT if count < AGAIN else UNDECIDED
            return _verdict(group, node, word, reason, group.columns[column])
        if group not in self.beside:
            self.beside[group] = self._beside(group)
        beside, shift = self.beside[group]
        each = np.array(every) if shift is None else 1 - (1 - np.array(every)) / (1 - shift)
        losses, few = np.median(each, axis=0), len(runs) // AGAIN_BETTER
        least, limits = np.sort(each, axis=0)[few], group.fail_limits(margin)  # of all but so few
        still = np.where((low > 0) & (least > limits), least / limits, 0.0)
        if still[column] == 0 < still.max():
            column = int(np.argmax(still))
        verdict, notes = FAIL if still.max() > 0 else PASS, []
        if verdict == PASS and group.peers < FEW and losses[column] > margin:
            verdict, notes = UNDECIDED, [f'{plural(group.peers - 1, "peer")} cannot decide it']
        metrics = group.metrics if group.columns[column] == MEAN else [group.columns[column]]
        if verdict == FAIL and any(r[m].is_bound for r in runs for m in metrics if m in r):
            verdict, notes = UNDECIDED, ['a lower bound among these decides nothing']
        is_three, to = len(runs) == AGAIN, _few(beside) if beside else 'that median'
        more = (
            f'measured again {"three" if is_three else len(runs)} times, compared with {to}: '
            f'{"all three" if is_three else f"{len(runs) - few} of {len(runs)}"} '
            f'{_percent(group, column, least[column])} or worse, limit '
            f'{_percent(group, column, limits[column])}: margin {100 * margin:.2g}% and half a '
            f'robust deviation of {group.deviations[column]:.3%}, or two'
        )
        reason = '; '.join([_loss(group, number, column), more, *notes])
        return _verdict(group, node, verdict, reason, group.columns[column], float(losses[column]))


def _figures_of(group: Group, nodes: Iterable[str]) -> list[Figure]:
    return [f for node in nodes for f in group.figures[node].values()]


def _few(nodes: list[str]) -> str:
    return fold(nodes) if len(nodes) <= 2 * CONTROLS else f'{len(nodes)} nodes'


def _together(own: list[NodeVerdict], group: Group, found: Judgement) -> list[NodeVerdict]:
    """Nodes of a unit that is slow as a whole have one reason, and no FAIL of their own."""
    low = {v.node for v in own if v.metric}
    if len(low) < MOST_OF * FEW:
        return own
    same: dict[str, str] = {}
    own_loss = {v.node: v.loss for v in own}
    for unit in sorted(found.units(group.nodes), key=lambda unit: -len(unit.nodes)):
        slow = unit.nodes & low
        is_unit = FEW <= len(unit.nodes) <= len(group.nodes) / 2
        if is_unit and len(slow) >= MOST_OF * len(unit.nodes) and not slow <= same.keys():
            still = len([v for v in own if v.node in slow and v.verdict != PASS])
            median = float(np.median([own_loss[node] for node in slow]))
            reason = (
                f'{unit.name} is slow as a whole ({unit.how}): {len(slow)} of its '
                f'{len(unit.nodes)} nodes are LOW, their median by {median:.1%}, {still} of these '
                'are not cleared: look for what they share'
            )
            alike = {node for node in slow if own_loss[node] <= median + found.margin}
            same |= dict.fromkeys(alike - same.keys(), reason)
    return [
        v._replace(verdict=UNDECIDED if v.verdict == FAIL else v.verdict, reason=same[v.node])
        if v.node in same and v.verdict != PASS
        else v
        for v in own
    ]


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


def _beyond(group: Group, losses: NDArray, margin: float, limit: float) -> NDArray:
    """Per column the loss as a multiple of the larger limit; 0 within it, or not known."""
    limits = np.maximum(margin, limit * group.deviations)
    return np.where(losses > limits, losses / limits, 0.0)


# --- in words ------------------------------------------------------------------------------


def _verdict(
    group: Group,
    node: str,
    verdict: str,
    reason: str,
    metric: str = '',
    again: float | None = None,
) -> NodeVerdict:
    number = group.numbers[node]
    figures = {m: f.value for m, f in group.figures[node].items()}
    loss = float(group.losses[number, -1])
    (some, *_) = group.figures[node].values()
    loss = 0.0 if np.isnan(loss) else loss
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
    median = f'median of its {plural(peers, "peer")} {group.medians[number, column]:.5g}'
    return f'{name} {bound}{figure.value:.5g} {figure.unit}, {median}: {percent}'


def _percent(group: Group, column: int, loss: float) -> str:
    """Of the figure: less of a rate, more of a time."""
    name = group.columns[column]
    better = group.any[group.metrics[0] if name == MEAN else name].better
    return f'{-loss if better == HIGHER else loss:+.2%}'
