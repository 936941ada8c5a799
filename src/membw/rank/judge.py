"""Is this node low compared with its peers? The one judge: `rank`, `node`, `why`, the
whole-cluster checks, pages, exports and `calibrate` ask here; what differs is only which figures
they give. docs/judging.md has the rules.

A trial of a node begins with its first low run and has all runs after it: at least three decide.
A bound may clear a node and condemns none; neither does a run that is too good clear one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from membw.grouped import grouped
from membw.rank.group import LEAST_NODES, MEAN, PEER, Facts, Group, Row, Run
from membw.rank.units import Unit, by_name
from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings, text_of
from membw.results.hostlist import fold
from membw.results.provenance import BOUGHT, LOST
from membw.results.too_good import TENTH
from membw.results.verdict import CHANNEL, lacks_of, may_be_worse
from membw.statistics import MARGIN
from membw.statistics.peers import known, middle, robust_deviation, sure_limit
from membw.words import FAIL, PASS, UNDECIDED, VALID

AGAIN = 3  # further measurements of a low node
AGAIN_BETTER = 4  # of so many further measurements one may be within the limit
CONTROLS = 3  # healthy nodes that are measured again with the low ones
HOUR = 0.05  # what an hour of all nodes may differ from another; a control that fell more is none
LAST_NIGHTS, LOW_NIGHTS = 7, 4  # low in so many of the last nights needs no further measurement
MOST_OF = 0.75  # of a unit's nodes are low: it is slow as a whole
# two groups: each more than a fifth of the nodes, of so many nodes or more
A_FIFTH, LEAST_OF_GROUPS = 0.2, 10
TRIED = {FAIL: 'low-again', UNDECIDED: 'low-in-some', PASS: 'well-again'}
Units = Callable[[Sequence[str]], list[Unit]]


class NodeVerdict(NamedTuple):
    """What is said of one node in one setting; losses are fractions, above 0: worse."""

    node: str
    verdict: str  # of membw/words.py
    findings: Findings  # why
    setting: Case
    figures: dict[str, float] = {}  # of the newest measurement, by metric
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
    first: Sequence[Figure],
    again: Sequence[Figure] = (),
    before: Sequence[Figure] = (),
    units: Units = by_name,
    what: str = PEER,
) -> Judgement:
    """Of one measurement of every node, in any number of settings; in these nodes are compared.

    `low`, `controls`: {setting: nodes to measure again, and healthy ones to measure with them}.
    """
    found = Judgement(units, what)
    further, earlier = (
        grouped((f.setting, f) for f in of if not unusable(f)) for of in (again, before)
    )
    for setting, figures in grouped((f.setting, f) for f in first).items():
        wrong = {f.node: why for f in figures if (why := unusable(f))}
        valid = [f for f in figures if f.node not in wrong]
        found.verdicts += [NodeVerdict(node, *why, setting) for node, why in sorted(wrong.items())]
        if valid:
            _Setting(valid, further.get(setting, []), earlier.get(setting, []), found).judge()
    return found


def unusable(figure: Figure) -> tuple[str, Findings] | None:
    """(word, why) of a figure that clears no node and condemns none."""
    if figure.verdict != VALID:
        return figure.verdict, figure.findings
    return (UNDECIDED, (may_be_worse(figure),)) if figure.may_be_worse else None


# --- one setting ---------------------------------------------------------------------------


class _Trial(NamedTuple):
    """Of one metric in which a node was low."""

    column: int
    excess: float  # of the first low run: a multiple of the limit
    run: Run  # the first low one
    after: list[float]  # the losses of the runs after it, in order
    word: str


class _Setting:
    """What is known of the nodes of one setting: first and further measurements."""

    def __init__(
        self, figures: list[Figure], again: list[Figure], before: list[Figure], found: Judgement
    ) -> None:
        self.figures, self.found, self.setting = figures, found, figures[0].setting
        self.before = before
        self.nights: list[Group] = []  # before, the newest first; where they are needed
        self.controls: dict[Group, dict[str, Row]] = {}
        self.hours: dict[Group, Row] = {}
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
        """What was bought differently is judged each by itself; what was lost or set makes the
        slower group the wrong one; else nothing says which is right."""
        found, peers = self.found, set(whole.nodes) - slower
        those, rest = whole.facts(slower), whole.facts(peers)
        group = Group(self.figures, peers)  # all compared with the faster ones
        lost = middle(group.losses[node][-1] for node in slower)
        said = {'slower': len(slower), 'nodes': len(whole.nodes), 'loss': lost}
        bought, fact = _difference(those, rest, BOUGHT), _difference(those, rest, LOST)
        if bought or fact:
            numbers = {**said, 'fact': text_of(bought or fact)}
            found.notes.append(text_of([Finding('groups', numbers)]))
        if bought:
            for part in (slower, peers):
                self._judge_group(Group(_figures_of(whole, part)), sorted(part))
            return
        if not fact:
            found.split = (Finding('group-slow', said),)
            found.notes.append(text_of(found.split))
        self._judge_group(group, sorted(peers))
        self._judge_group(group, sorted(slower), found.split if not fact else (), fact)

    def _judge_group(
        self, group: Group, nodes: Sequence[str], split: Findings = (), fact: Findings = ()
    ) -> None:
        """The verdicts on these nodes of a group. `split`: they cannot be told from their peers;
        `fact`: what explains them."""
        found = self.found
        found.groups += [group] * (group not in found.groups)
        healthy = []
        for node in nodes:
            verdict = self._of_node(group, node)
            if verdict.verdict != PASS and verdict.metric:
                verdict = _explained(group, node, verdict, split, fact)
            found.verdicts.append(verdict)
            is_estimate = not any(x != x for x in group.estimates[node])
            if verdict.verdict == PASS and not verdict.metric and is_estimate:
                healthy.append((abs(group.estimates[node][-1]), node))
        found.controls[self.setting] += [node for _, node in sorted(healthy)[:CONTROLS]]

    def _of_node(self, group: Group, node: str) -> NodeVerdict:
        if nothing := _nothing(group, node):
            return _verdict(group, node, VALID, (Finding(nothing),))
        if trials := self._trials(group, node):
            self.found.low[self.setting].append(node)
            return self._tried(group, node, trials)
        if lacks := group.lacks(node):
            return _verdict(group, node, UNDECIDED, (Finding('lacks-metric', {'metrics': lacks}),),
                            lacks[0])  # fmt: skip
        return _cleared(group, _verdict(group, node, PASS, ()))

    # --- all runs of a node

    def _further(self, group: Group, node: str) -> list[tuple[Run, Row]]:
        """(run, its losses to the medians of the first measurement) of each further run that has
        all metrics; not of a bound that is low, nor of what is too good."""
        made = []
        for run in self.runs[node].values():
            if run.keys() >= group.figures[node].keys():
                losses, group.now[node] = group.losses_of(node, run), run
                is_bound = max(_beyond(losses, group.fail_limits)) > 0 and _has_bound(run)
                if not is_bound and not losses[group.head] < -TENTH:
                    made.append((run, losses))
        return made

    def _controls(self, group: Group) -> dict[str, Row]:
        """Of each healthy node that was measured again the median of its losses by column."""
        if group not in self.controls:
            rows: dict[str, Row] = {}
            for name in sorted(self.runs.keys() & group.peer_names):
                runs = self._further(group, name)
                is_low = max(_beyond(group.losses[name], group.low_limits)) > 0
                is_bound = any(_has_bound(run) for run, _ in runs)
                if runs and not (is_bound or is_low or _too_good(group, name)):
                    row = _medians([losses for _, losses in runs])
                    rows |= {name: row} if abs(row[group.head]) <= HOUR else {}
            self.controls[group] = rows
        return self.controls[group]

    def _hour(self, group: Group, node: str) -> Row:
        """By column what the healthy nodes lost since that were measured again; of fewer than two
        besides the node it could be its own loss."""
        rows = self._controls(group)
        if len(rows) - (node in rows) < CONTROLS - 1:
            return [0.0] * len(group.columns)
        if group not in self.hours:
            self.hours[group] = _medians([*rows.values()])
        return self.hours[group]

    def _trials(self, group: Group, node: str) -> list[_Trial]:
        """Of each metric: it begins with the first measurement, if that is low, else with the
        first further run beyond the limit of a FAIL, and beyond what chance gives any node."""
        further, hour = self._further(group, node), self._hour(group, node)
        runs = [group.figures[node], *(run for run, _ in further)]
        low = _beyond(group.losses[node], group.low_limits)
        sure, made = sure_limit(max(group.peers, 2)), []
        for column, limit in enumerate(group.fail_limits):
            losses = [1 - (1 - of[column]) / (1 - hour[column]) for _, of in further]
            far = max(limit, sure * group.deviations[column])
            later = next((i for i, x in enumerate(losses, 1) if x > far), None)
            begin = 0 if low[column] else later
            if begin is not None:
                excess = low[column] or losses[begin - 1] / far
                after = losses[begin:]
                word = _word(after, limit, 1 if begin else AGAIN)
                made.append(_Trial(column, excess, runs[begin], after, word))
        return made

    def _tried(self, group: Group, node: str, trials: list[_Trial]) -> NodeVerdict:
        """The worst word of its metrics, of these the one that was low by most."""
        order = (FAIL, UNDECIDED, PASS)
        column, _, run, after, word = min(trials, key=lambda t: (order.index(t.word), -t.excess))
        if word == UNDECIDED and len(after) < AGAIN:
            return self._few(group, node, column, run, after)
        beside = [name for name in self._controls(group) if name != node]
        beside = beside if beside[CONTROLS - 2 :] else []
        to = f'{len(beside)} nodes' if beside[2 * CONTROLS :] else fold(beside) or 'that median'
        limit, few = group.fail_limits[column], len(after) // AGAIN_BETTER
        numbers = _loss(group, node, column, run) | _limit(group, column) | {
            'runs': len(after), 'low': sum(x > limit for x in after), 'to': to,
            'least': sorted(after)[few] if word == FAIL else _median(after), 'newest': after[-1],
        }  # fmt: skip
        why = (Finding(TRIED[word], numbers),)
        made = _verdict(group, node, word, why, group.columns[column], _median(after))
        return _cleared(group, made)

    def _few(
        self, group: Group, node: str, column: int, run: Run, after: list[float]
    ) -> NodeVerdict:
        """Not measured three times since: the nights before tell, if they are enough."""
        name, now = group.columns[column], group.now[node]
        numbers = _loss(group, node, column, run)
        limit, deviation = group.fail_limits[column], group.deviations[column]
        nights = self._low_nights(node, name)
        is_low = group.losses_of(node, now)[column] > limit and not _has_bound(now)
        if is_low and 1 + sum(nights) >= LOW_NIGHTS:
            numbers |= _limit(group, column)
            numbers |= {'low': 1 + sum(nights), 'nights': 1 + len(nights)}
            return _verdict(group, node, FAIL, (Finding('low-nights', numbers),), name)
        low = 1 + sum(loss > limit for loss in after)
        numbers |= {'runs': 1 + len(after), 'low': low, 'low_nights': sum(nights)}
        numbers |= {'margin': MARGIN, 'deviations': group.screening, 'deviation': deviation}
        return _verdict(group, node, UNDECIDED, (Finding('low-once', numbers),), name)

    def _low_nights(self, node: str, column: str) -> list[bool]:
        """Of each of the last nights before: whether it was beyond the limit of a FAIL."""
        by_night = sorted(grouped((f.night, f) for f in self.before).items(), reverse=True)
        self.nights = self.nights or [Group(figures) for _, figures in by_night]
        low: list[bool] = []
        for group in self.nights:
            if node in group.figures and column in group.columns and len(low) < LAST_NIGHTS - 1:
                n = group.columns.index(column)
                is_low = group.losses[node][n] > group.fail_limits[n]
                low.append(is_low and not _has_bound(group.figures[node]))
        return low


def _median(losses: list[float]) -> float:
    """Of an even number the worse one of the middle two."""
    return sorted(losses)[len(losses) // 2] if losses else 0.0


def _word(after: list[float], limit: float, least: int) -> str:
    """FAIL: each of three and more runs after the first low one is beyond the limit, of four and
    more all but one of four. PASS: of so many neither the median nor the newest."""
    if len(after) >= AGAIN and sorted(after)[len(after) // AGAIN_BETTER] > limit:
        return FAIL
    return UNDECIDED if len(after) < least or max(_median(after), after[-1]) > limit else PASS


def _nothing(group: Group, node: str) -> str:
    """The code of why a node cannot be compared; '' where it can."""
    if len(group.nodes) == 1:
        return 'unknown-build' if group.setting.is_of_unknown_build else 'alone'
    return '' if known(group.losses[node]) else 'bounds-alone'


def _cleared(group: Group, verdict: NodeVerdict) -> NodeVerdict:
    """A PASS that would not have noticed the loss of a channel is none, nor of a node that lacks
    memory."""
    if verdict.verdict != PASS:
        return verdict
    if better := _too_good(group, verdict.node):
        return verdict._replace(verdict=UNDECIDED, findings=better, metric=group.headline)
    if lacks := _lacks_memory(group, verdict.node):
        findings = (*verdict.findings, lacks)
        return verdict._replace(verdict=UNDECIDED, findings=findings)
    least = group.noticed(verdict.node)
    verdict = verdict._replace(noticed=least)
    if least <= CHANNEL:
        return verdict
    first = group.losses[verdict.node][group.head]
    numbers = {
        'loss': first if verdict.again is None else verdict.again, 'margin': MARGIN,
        'noticed': least if least < 1 else None, 'peers': verdict.peers, 'of': group.what,
    }  # fmt: skip
    findings = (*verdict.findings, Finding('insensitive', numbers))
    return verdict._replace(verdict=UNDECIDED, findings=findings)


def _lacks_memory(group: Group, node: str) -> Finding | None:
    """What its CPUs take, or its peers have."""
    f = group.figures[node].get(group.headline)
    if f and (lacks := lacks_of(f)):
        return lacks
    channels, most = group.channels.get(node, 0), group.most_channels
    if 0 < channels < most:
        return Finding('fewer-channels', {'channels': channels, 'most': most})
    return None


def _explained(
    group: Group, node: str, verdict: NodeVerdict, split: Findings, fact: Findings
) -> NodeVerdict:
    """With the fact that may explain it; `split`: a group that is slow has no FAIL."""
    if split:
        return verdict._replace(verdict=UNDECIDED, findings=split)
    if not fact:
        is_healthy = node in group.healthy
        rest = group.facts(group.healthy - {node}) if is_healthy else group.facts_of_healthy
        fact = _difference(group.facts([node]), rest, (*BOUGHT, *LOST))
    return verdict._replace(findings=(*verdict.findings, *fact))


def _too_good(group: Group, node: str) -> Findings:
    """Where the headline of a node, or the mean of its rates, is better than a machine of its kind
    can be; in its newest run, too."""
    sure, last = sure_limit(max(group.peers, 2)), len(group.columns) - 1
    for column in group.head, last:
        for run in group.figures[node], group.now[node]:
            gain = -group.losses_of(node, run)[column]
            if gain > max(TENTH, sure * group.deviations[column]):
                return (Finding('above-peers', _loss(group, node, column, run)),)
    return ()


def _beyond(losses: Row, limits: Row) -> Row:
    """Each as a multiple of its limit; 0 within it, or not known."""
    return [x / y if x > y else 0.0 for x, y in zip(losses, limits, strict=True)]


def _has_bound(run: Run) -> bool:
    return any(f.is_bound for f in run.values())


def _medians(rows: Sequence[Row]) -> Row:
    return [middle(column) for column in zip(*rows, strict=True)]


def _figures_of(group: Group, nodes: Iterable[str]) -> list[Figure]:
    return [f for node in nodes for f in group.figures[node].values()]


def _together(own: list[NodeVerdict], group: Group, found: Judgement) -> list[NodeVerdict]:
    """Nodes of a unit that is slow as a whole have one reason, and no FAIL of their own."""
    low = {*found.low[own[0].setting]} & {*group.nodes}
    if len(low) < MOST_OF * LEAST_NODES:
        return own
    same: dict[str, Finding] = {}
    own_loss = {v.node: v.loss for v in own}
    for unit in sorted(found.units(group.nodes), key=lambda unit: -len(unit.nodes)):
        slow = unit.nodes & low
        is_unit = LEAST_NODES <= len(unit.nodes) <= len(group.nodes) / 2
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
    if count < LEAST_OF_GROUPS:
        return set()
    cuts = [i for i in range(1, count) if A_FIFTH * count < min(i, count - i)]
    cut = max(cuts, key=lambda i: ordered[i] - ordered[i - 1])
    fast, slow = ordered[:cut], ordered[cut:]
    centres = (fast, middle(fast)), (slow, middle(slow))
    within = [x - centre for part, centre in centres for x in part]
    if slow[0] - fast[-1] <= max(MARGIN, sure_limit(count) * robust_deviation(within)):
        return set()
    return {node for node in group.nodes if group.estimates[node][-1] >= slow[0]}


def _difference(ours: Facts, theirs: Facts, names: Sequence[str]) -> Findings:
    """The first of these facts without a value in common."""
    for name in names:
        one, other = ours[name], theirs[name]
        if one and other and None not in one | other and not one.keys() & other.keys():
            values = {'value': _most(one), 'usual': _most(other)}
            return (Finding('fact', {'name': name, **values}),)
    return ()


def _most(values: Counter[str | None]) -> str | None:
    return min(values, key=lambda value: (-values[value], str(value)))


def _verdict(
    group: Group,
    node: str,
    verdict: str,
    findings: Findings,
    metric: str = '',
    again: float | None = None,
) -> NodeVerdict:
    run = group.now[node]
    figures = {m: f.value for m, f in run.items()}
    column = group.columns.index(metric) if metric else group.head
    loss = group.losses_of(node, run)[column]
    setting = next(iter(run.values())).setting
    peers = group.peers - (node in group.peer_names)
    return NodeVerdict(
        node, verdict, findings, setting, figures, 0.0 if loss != loss else loss, metric, again,
        peers=peers,
    )  # fmt: skip


def _limit(group: Group, column: int) -> dict[str, Any]:
    """What the sentences on the limit of a FAIL need."""
    limit, deviation = group.fail_limits[column], group.deviations[column]
    return {'limit': limit, 'margin': MARGIN, 'deviation': deviation}


def _loss(group: Group, node: str, column: int, run: Run) -> dict[str, Any]:
    """What the sentences on a loss need."""
    name, loss = group.columns[column], group.losses_of(node, run)[column]
    peers = group.peers - (node in group.peer_names)
    better = group.any[group.headline if name == MEAN else name].better
    own = {'metric': name, 'loss': loss, 'better': better, 'peers': peers, 'of': group.what}
    if name == MEAN:
        return own | {'rates': len(group.rates)}
    f = run[name]
    bound = f.sign.replace('≥', '>=').replace('≤', '<=')
    median = group.medians[node][column]
    return own | {'value': f.value, 'bound': bound, 'unit': f.unit, 'median': median}
