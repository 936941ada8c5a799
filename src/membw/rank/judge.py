"""Is this node low beside its peers? The one judge: `rank`, `node`, `why`, the whole-cluster
checks, pages, exports and `calibrate` ask here; what differs is only which figures they give.

Low: a metric, or the mean of a node's rates, is worse than the median of its peers by more than
half the margin, and by more robust deviations than chance gives one node of such a fleet.
FAIL: in a metric in which a node was low, each of three further measurements is worse than the
median of the healthy nodes measured again with it by more than the margin and half a robust
deviation, and than two of these; else PASS.
UNDECIDED: low, and not measured again three times; nothing to compare with: no peer, bounds
alone; it lacks a metric that most nodes have; its figure may be worse (not-proven); a headline
that is better than the peers' median by more than a tenth; slow with others, as a unit or the
slower of two groups, and nothing says which is right; or a PASS that would not have noticed the
loss of a channel.
The deviation is 1.4826 MAD of all nodes, at least 0.5 %. Bounds may clear a node, never condemn.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from membw.grouped import grouped
from membw.rank.group import MARGIN, MEAN, PEER, Group, Row, Run
from membw.rank.units import Unit, by_name
from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings, codes, text_of
from membw.results.hostlist import fold
from membw.results.too_good import TENTH
from membw.results.verdict import CHANNEL, FAIL, PASS, UNDECIDED, VALID, may_be_worse
from membw.statistics.peers import known, middle, robust_deviation, sure_limit

AGAIN = 3  # further measurements of a low node
AGAIN_BETTER = 4  # of so many further measurements one may be within the margin
CONTROLS = 3  # healthy nodes that are measured again with the low ones
FEW = 4  # nodes; fewer cannot decide which of them is slow, and are no unit
MOST_OF = 0.75  # of a unit's nodes are low: it is slow as a whole
# two groups: each more than a fifth of the nodes, of so many nodes or more
A_FIFTH, LEAST_GROUPS = 0.2, 10
# what may explain that nodes differ
FACTS = (
    'dimms', 'memory_channels', 'memory_gib', 'numa_nodes', 'microcode', 'kernel_release',
    'governor', 'thp', 'numa_balancing', 'code_sha256',
)  # fmt: skip
Units = Callable[[Sequence[str]], list[Unit]]


class NodeVerdict(NamedTuple):
    """What is said of one node in one setting; losses are fractions, above 0: worse."""

    node: str
    verdict: str  # PASS, FAIL, UNDECIDED, INVALID
    findings: Findings  # why
    setting: Case
    figures: dict[str, float] = {}  # of the first measurement, by metric
    loss: float = 0.0  # of what decided, else of the headline; to its peers' median
    metric: str = ''  # the one that decided; MEAN: all rates
    again: float | None = None  # the loss in `metric`, measured again
    noticed: float = math.inf  # the smallest loss of the headline that would have been noticed
    peers: int = 0  # it was compared with so many

    @property
    def reason(self) -> str:
        return text_of(self.findings)


@dataclass
class Judgement:
    """`low`: the nodes to measure again; `groups`: those within which nodes were compared."""

    units: Units
    what: str = PEER  # it is compared with
    verdicts: list[NodeVerdict] = field(default_factory=list)
    low: dict[Case, list[str]] = field(default_factory=lambda: defaultdict(list))
    controls: dict[Case, list[str]] = field(default_factory=lambda: defaultdict(list))
    groups: list[Group] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    split: Findings = ()  # two groups, and nothing says which is right


def judge(
    first: Sequence[Figure], again: Sequence[Figure] = (), units: Units = by_name, what: str = PEER
) -> Judgement:
    """Of one measurement of every node, in any number of settings; in these nodes are compared.

    `low`, `controls`: {setting: nodes to measure again, and healthy ones to measure with them}.
    """
    found = Judgement(units, what)
    further = grouped((f.setting, f) for f in again if not unusable(f))
    for setting, figures in grouped((f.setting, f) for f in first).items():
        wrong = {f.node: why for f in figures if (why := unusable(f))}
        valid = [f for f in figures if f.node not in wrong]
        found.verdicts += [NodeVerdict(node, *why, setting) for node, why in sorted(wrong.items())]
        if valid:
            _Setting(valid, further.get(setting, []), found).judge()
    return found


def unusable(figure: Figure) -> tuple[str, Findings] | None:
    """(word, why) of a figure that clears no node and condemns none."""
    if figure.verdict != 'VALID':
        return figure.verdict, figure.findings
    return (UNDECIDED, (may_be_worse(figure),)) if figure.may_be_worse else None


# --- one setting ---------------------------------------------------------------------------


class _Setting:
    """What is known of the nodes of one setting: first and further measurements."""

    def __init__(self, figures: list[Figure], again: list[Figure], found: Judgement) -> None:
        self.figures, self.found, self.setting = figures, found, figures[0].setting
        self.beside: dict[Group, tuple[list[str], Row | None]] = {}
        self.runs: dict[str, dict[int, Run]] = defaultdict(lambda: defaultdict(dict))
        for f in again:
            self.runs[f.node][id(f.of)][f.metric] = f

    def judge(self) -> None:
        """Nodes of one group, or of two."""
        found, whole = self.found, Group(self.figures, what=self.found.what)
        begin, slower = len(found.verdicts), _slower_group(whole)
        if not slower:
            self._judge_group(whole, whole.nodes)
        else:
            self._by_groups(whole, slower)
        found.verdicts[begin:] = _together(found.verdicts[begin:], whole, found)

    def _by_groups(self, whole: Group, slower: set[str]) -> None:
        found, peers = self.found, set(whole.nodes) - slower
        those, rest = _figures_of(whole, slower), _figures_of(whole, peers)
        fast, slow = (middle(whole.estimates[n][-1] for n in part) for part in (peers, slower))
        lost = (slow - fast) / (1 - fast)
        said = {'slower': len(slower), 'nodes': len(whole.nodes), 'loss': lost}
        if fact := _difference(those, rest):
            found.notes.append(text_of([Finding('groups', {**said, 'fact': text_of(fact)})]))
            self._judge_group(Group(those), sorted(slower))
            self._judge_group(Group(rest), sorted(peers))
            return
        found.split = (Finding('group-slow', said),)
        found.notes.append(text_of(found.split))
        group = Group(self.figures, peers)
        self._judge_group(group, sorted(peers))
        self._judge_group(group, sorted(slower), found.split)

    def _judge_group(self, group: Group, nodes: Sequence[str], why: Findings = ()) -> None:
        """The verdicts on these nodes of a group. `why`: they cannot be told from their peers."""
        found = self.found
        found.groups += [group] * (group not in found.groups)
        healthy = []
        for node in nodes:
            verdict = self._of_node(group, node, why)
            found.verdicts.append(verdict)
            is_estimate = not any(x != x for x in group.estimates[node])
            if verdict.verdict == PASS and not verdict.metric and is_estimate:
                healthy.append((abs(group.estimates[node][-1]), node))
        found.controls[self.setting] += [node for _, node in sorted(healthy)[:CONTROLS]]

    def _of_node(self, group: Group, node: str, why: Findings) -> NodeVerdict:
        if nothing := _nothing(group, node):
            return _verdict(group, node, VALID, (Finding(nothing),))
        low = group.beyond(group.losses[node])
        if max(low) > 0:
            self.found.low[self.setting].append(node)
            return self._explained(group, node, self._confirmed(group, node, low), why)
        if lacks := group.lacks(node):
            found = (Finding('lacks-metric', {'metrics': lacks}),)
            return _verdict(group, node, UNDECIDED, found, lacks[0])
        if better := _too_good(group, node):
            return _verdict(group, node, UNDECIDED, better, group.headline)
        return self._powerful(group, node)

    def _powerful(self, group: Group, node: str) -> NodeVerdict:
        """PASS, if it would have noticed the loss of a channel."""
        least = group.noticed(node)
        verdict = _verdict(group, node, PASS, ())._replace(noticed=least)
        if least <= CHANNEL:
            return verdict
        numbers = {
            'loss': group.losses[node][group.head], 'margin': MARGIN,
            'noticed': least if least < 1 else None, 'peers': verdict.peers, 'of': group.what,
        }  # fmt: skip
        return verdict._replace(verdict=UNDECIDED, findings=(Finding('insensitive', numbers),))

    def _explained(
        self, group: Group, node: str, verdict: NodeVerdict, why: Findings
    ) -> NodeVerdict:
        """With the fact that may explain it; `why`: a group that is slow has no FAIL."""
        if verdict.verdict == PASS:
            return verdict
        if why:
            done = 'once' if 'low-once' in codes(verdict.findings) else 'again'
            return verdict._replace(verdict=UNDECIDED, findings=(*why, Finding(f'each-{done}')))
        own = _figures_of(group, [node])
        fact = _difference(own, _figures_of(group, [n for n in group.nodes if n != node]))
        return verdict._replace(findings=(*verdict.findings, *fact))

    def _losses_again(self, group: Group, node: str) -> tuple[list[Row], list[Run]]:
        """(losses of each further run that has all metrics, these runs)."""
        wanted = group.figures[node].keys()
        runs = [run for run in self.runs[node].values() if run.keys() >= wanted]
        return [group.losses_of(node, run) for run in runs], runs

    def _beside(self, group: Group) -> tuple[list[str], Row | None]:
        """(healthy nodes that were measured again, the median of their losses by column)."""
        names, losses = [], []
        for node in sorted(self.runs.keys() & group.peer_names):
            found, runs = self._losses_again(group, node)
            is_bound = any(f.is_bound for run in runs for f in run.values())
            is_low = max(group.beyond(group.losses[node])) > 0
            if len(found) < AGAIN or is_bound or is_low or _too_good(group, node):
                continue
            losses_again = _medians(found)
            if -losses_again[group.head] <= TENTH:
                names.append(node)
                losses.append(losses_again)
        return names, _medians(losses) if losses else None

    def _confirmed(self, group: Group, node: str, low: Row) -> NodeVerdict:
        """`low`: as Group.beyond has it: these columns are measured again."""
        column = low.index(max(low))
        every, runs = self._losses_again(group, node)
        if len(runs) < AGAIN:
            numbers = _loss(group, node, column) | {'runs': len(runs), 'margin': MARGIN}
            deviation = group.deviations[column]
            numbers |= {'deviations': group.screening, 'deviation': deviation}
            once = (Finding('low-once', numbers),)
            return _verdict(group, node, UNDECIDED, once, group.columns[column])
        if group not in self.beside:
            self.beside[group] = self._beside(group)
        beside, shift = self.beside[group]
        off = shift or [0.0] * len(group.columns)
        each = [[1 - (1 - x) / (1 - s) for x, s in zip(row, off, strict=True)] for row in every]
        losses, few = _medians(each), len(runs) // AGAIN_BETTER
        least = [sorted(of)[few] for of in zip(*each, strict=True)]  # of all but so few
        limits = [group.fail_limit(n) for n in range(len(group.columns))]
        of_each = zip(low, least, limits, strict=True)
        still = [x / y if w > 0 and x > y else 0.0 for w, x, y in of_each]
        if still[column] == 0 < max(still):
            column = still.index(max(still))
        verdict, notes = (FAIL if max(still) > 0 else PASS), []
        if verdict == PASS and group.peers < FEW and losses[column] > MARGIN:
            numbers = {'peers': group.peers - 1, 'of': group.what}
            verdict, notes = UNDECIDED, [Finding('few-peers', numbers)]
        metrics = group.metrics if group.columns[column] == MEAN else [group.columns[column]]
        if verdict == FAIL and any(r[m].is_bound for r in runs for m in metrics if m in r):
            verdict, notes = UNDECIDED, [Finding('bound-among')]
        to = f'{len(beside)} nodes' if beside[2 * CONTROLS :] else fold(beside) or 'that median'
        numbers = _loss(group, node, column) | {
            'runs': len(runs), 'of_runs': len(runs) - few, 'least': least[column], 'to': to,
            'limit': limits[column], 'margin': MARGIN, 'deviation': group.deviations[column],
        }  # fmt: skip
        again = Finding('well-again' if verdict == PASS else 'low-again', numbers)
        found = (again, *notes)
        made = _verdict(group, node, verdict, found, group.columns[column], losses[column])
        return made._replace(noticed=group.noticed(node))


def _nothing(group: Group, node: str) -> str:
    """The code of why a node cannot be compared; '' where it can."""
    if len(group.nodes) == 1:
        return 'unknown-build' if group.setting.is_of_unknown_build else 'alone'
    return '' if known(group.losses[node]) else 'bounds-alone'


def _too_good(group: Group, node: str) -> Findings:
    """Where the headline of a node, or the mean of its rates, is better than a machine of its kind
    can be."""
    sure, last = sure_limit(max(group.peers, 2)), len(group.columns) - 1
    for column in group.head, last:
        if -group.losses[node][column] > max(TENTH, sure * group.deviations[column]):
            return (Finding('above-peers', _loss(group, node, column)),)
    return ()


def _medians(rows: Sequence[Row]) -> Row:
    return [middle(column) for column in zip(*rows, strict=True)]


def _figures_of(group: Group, nodes: Iterable[str]) -> list[Figure]:
    return [f for node in nodes for f in group.figures[node].values()]


def _together(own: list[NodeVerdict], group: Group, found: Judgement) -> list[NodeVerdict]:
    """Nodes of a unit that is slow as a whole have one reason, and no FAIL of their own."""
    low = {*found.low[own[0].setting]} & {*group.nodes}
    if len(low) < MOST_OF * FEW:
        return own
    same: dict[str, Finding] = {}
    own_loss = {v.node: v.loss for v in own}
    for unit in sorted(found.units(group.nodes), key=lambda unit: -len(unit.nodes)):
        slow = unit.nodes & low
        is_unit = FEW <= len(unit.nodes) <= len(group.nodes) / 2
        if is_unit and len(slow) >= MOST_OF * len(unit.nodes) and not slow <= same.keys():
            still = len([v for v in own if v.node in slow and v.verdict != PASS])
            median = middle(own_loss[node] for node in slow)
            why = Finding('unit-slow', {
                'unit': unit.name, 'how': unit.how, 'low': len(slow), 'nodes': len(unit.nodes),
                'loss': median, 'left': still,
            })  # fmt: skip
            alike = {node for node in slow if own_loss[node] <= median + MARGIN}
            same |= dict.fromkeys(alike - same.keys(), why)
    return [
        v._replace(verdict=UNDECIDED, findings=(same[v.node],))
        if v.node in same and v.verdict != PASS
        else v
        for v in own
    ]


def _slower_group(group: Group) -> set[str]:
    """The slower of two groups; empty where there is one.

    Two groups: sorted by the mean of their rates, the nodes have a gap wider than the margin
    and than chance gives any node by the deviations within, with more than a fifth on each side.
    """
    ordered = sorted(known(row[-1] for row in group.estimates.values()))
    count = len(ordered)
    if count < LEAST_GROUPS:
        return set()
    cuts = [i for i in range(1, count) if A_FIFTH * count < min(i, count - i)]
    cut = max(cuts, key=lambda i: ordered[i] - ordered[i - 1])
    fast, slow = ordered[:cut], ordered[cut:]
    centres = (fast, middle(fast)), (slow, middle(slow))
    within = [x - centre for part, centre in centres for x in part]
    if slow[0] - fast[-1] <= max(MARGIN, sure_limit(count) * robust_deviation(within)):
        return set()
    return {node for node in group.nodes if group.estimates[node][-1] >= slow[0]}


def _difference(some: list[Figure], rest: list[Figure]) -> Findings:
    """The first fact without a value in common."""
    ours, theirs = ([*{id(f.of): f.of.provenance for f in part}.values()] for part in (some, rest))
    for name in FACTS:
        one, other = ({p.get(name) for p in part} for part in (ours, theirs))
        if None not in one | other and not one & other:
            values = {'value': _most(ours, name), 'usual': _most(theirs, name)}
            return (Finding('fact', {'name': name, **values}),)
    return ()


def _most(provenances: list[dict[str, str]], name: str) -> str:
    values = [p[name] for p in provenances]
    return max(sorted(set(values)), key=values.count)


def _verdict(
    group: Group,
    node: str,
    verdict: str,
    findings: Findings,
    metric: str = '',
    again: float | None = None,
) -> NodeVerdict:
    run = group.figures[node]
    figures = {m: f.value for m, f in run.items()}
    column = group.columns.index(metric) if metric else group.head
    loss = group.losses[node][column]
    setting = next(iter(run.values())).setting
    peers = group.peers - (node in group.peer_names)
    return NodeVerdict(
        node, verdict, findings, setting, figures, 0.0 if loss != loss else loss, metric, again,
        peers=peers,
    )  # fmt: skip


def _loss(group: Group, node: str, column: int) -> dict[str, Any]:
    """What the sentences on a loss need."""
    name, loss = group.columns[column], group.losses[node][column]
    peers = group.peers - (node in group.peer_names)
    better = group.any[group.headline if name == MEAN else name].better
    own = {'metric': name, 'loss': loss, 'better': better, 'peers': peers, 'of': group.what}
    if name == MEAN:
        return own | {'rates': len(group.rates)}
    f = group.figures[node][name]
    bound = f.sign.replace('≥', '>=').replace('≤', '<=')
    median = group.medians[node][column]
    return own | {'value': f.value, 'bound': bound, 'unit': f.unit, 'median': median}
