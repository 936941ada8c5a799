"""Is this node low compared with its peers? The one judge: `rank`, `node`, `why`, the
whole-cluster checks, pages, exports and `calibrate` ask here; what differs is only which figures
they give. docs/judging.md has the rules.

A trial of a node begins with its first low run and has all runs after it: at least three decide.
A bound may clear a node and condemns none; neither does a run that is too good clear one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from membw.grouped import grouped
from membw.rank.group import CONTROLS, LEAST_NODES, MEAN, PEER, Facts, Group, Run
from membw.rank.units import Unit, by_name
from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings, text_of
from membw.results.hostlist import fold
from membw.results.provenance import BOUGHT, LOST
from membw.results.too_good import TENTH
from membw.results.verdict import CHANNEL, can_miss, lacks_of, may_be_worse
from membw.statistics import MARGIN
from membw.statistics.peers import known, middle, robust_deviation, sure_limit
from membw.words import FAIL, PASS, UNDECIDED, VALID

AGAIN = 3  # further measurements of a low node
AGAIN_BETTER = 4  # of so many further measurements one may be within the limit
LAST_NIGHTS, LOW_NIGHTS = 7, 4  # low in so many of the last nights needs no further measurement
MOST_OF = 0.75  # of a unit's nodes are low: it is slow as a whole; of a group's are alike
# two groups: each more than a fifth of the nodes, of so many nodes or more
A_FIFTH, LEAST_OF_GROUPS = 0.2, 10
TRIED = {FAIL: 'low-again', UNDECIDED: 'low-in-some', PASS: 'well-again'}
Units = Callable[[Sequence[str]], list[Unit]]


class NodeVerdict(NamedTuple):
    """What is said of one node, in one setting or as the worst of all; losses are fractions, above
    0: worse."""

    node: str
    verdict: str  # of membw/words.py
    findings: Findings  # why
    setting: Case = Case()
    figures: Mapping[str, Figure] = {}  # of the newest measurement, by metric
    loss: float = 0.0  # of what decided, else of the headline; to its peers' median
    metric: str = ''  # the one that decided; MEAN: all rates
    again: float | None = None  # the loss in `metric`, measured again
    noticed: float = math.inf  # the smallest loss of the headline that would have been noticed
    peers: int = 0  # it was compared with so many

    @property
    def name(self) -> str:
        return self.node

    @property
    def reason(self) -> str:
        return text_of(self.findings)


@dataclass
class Judgement:
    units: Units
    verdicts: list[NodeVerdict] = field(default_factory=list)
    # {setting: nodes to measure again, and healthy ones to measure with them}
    low: dict[Case, list[str]] = field(default_factory=lambda: defaultdict(list))
    controls: dict[Case, list[str]] = field(default_factory=lambda: defaultdict(list))
    groups: list[Group] = field(default_factory=list)  # within which nodes were compared
    notes: list[str] = field(default_factory=list)
    split: Findings = ()  # two groups, and nothing says which is right


def judge(
    first: Sequence[Figure],
    again: Sequence[Figure] = (),
    before: Sequence[Figure] = (),
    units: Units = by_name,
    what: str = PEER,
) -> Judgement:
    """Of one measurement of every node, in any number of settings; in these nodes are compared."""
    found = Judgement(units)
    further, earlier = (
        grouped((f.setting, f) for f in of if not unusable(f)) for of in (again, before)
    )
    for setting, figures in grouped((f.setting, f) for f in first).items():
        is_alone = len({f.node for f in figures}) == 1
        wrong = {f.node: why for f in figures if (why := unusable(f, is_alone))}
        found.verdicts += [NodeVerdict(node, *why, setting) for node, why in sorted(wrong.items())]
        if valid := [f for f in figures if f.node not in wrong]:
            later, nights = further.get(setting, []), earlier.get(setting, [])
            _judge_setting(Group(valid, later, nights, what=what), found)
    return found


def unusable(figure: Figure, is_alone: bool = False) -> tuple[str, Findings] | None:
    """(word, why) of a figure that clears no node and condemns none."""
    if figure.verdict != VALID:
        return figure.verdict, figure.findings
    word = VALID if is_alone and not can_miss(figure) else UNDECIDED
    return (word, (may_be_worse(figure),)) if figure.may_be_worse else None


# --- one setting ---------------------------------------------------------------------------


def _judge_setting(whole: Group, found: Judgement) -> None:
    """The verdicts on its nodes, which are one group or two."""
    begin, slower = len(found.verdicts), _slower_group(whole)
    if slower:
        _judge_groups(whole, slower, found)
    else:
        _judge_group(whole, whole.nodes, found)
    found.verdicts[begin:] = _together(found.verdicts[begin:], whole, found)


def _judge_groups(whole: Group, slower: set[str], found: Judgement) -> None:
    """What was bought differently is judged each by itself; what was lost or set makes the slower
    group the wrong one; else nothing says which is right."""
    faster = {*whole.nodes} - slower
    those, rest = whole.facts(slower), whole.facts(faster)
    group = whole.part(whole.nodes, faster)  # all compared with the faster ones
    lost = middle(group.first[node].losses[-1] for node in slower)
    said = {'slower': len(slower), 'nodes': len(whole.nodes), 'loss': lost}
    bought, fact = _difference(those, rest, BOUGHT), _difference(those, rest, LOST)
    split = () if bought or fact else (Finding('group-slow', said),)
    groups = Finding('groups', {**said, 'fact': text_of(bought or fact)})
    found.notes.append(text_of(split or (groups,)))
    found.split = split or found.split
    if bought:
        for part in (slower, faster):
            _judge_group(whole.part(part), sorted(part), found)
    else:
        begin = len(found.verdicts)
        _judge_group(group, sorted(faster), found)
        if split and lost > TENTH:  # or it read a cache
            for n, v in enumerate(found.verdicts[begin:], begin):
                if v.verdict == PASS:
                    found.verdicts[n] = v._replace(verdict=UNDECIDED, findings=split)
        _judge_group(group, sorted(slower), found, split, fact)


def _judge_group(
    group: Group, nodes: Sequence[str], found: Judgement, split: Findings = (), fact: Findings = ()
) -> None:
    """The verdicts on these nodes of a group. `split`: they cannot be told from their peers;
    `fact`: what explains them."""
    found.groups += [group] * (group not in found.groups)
    healthy = []
    for node in nodes:
        v = _of_node(group, node, found)
        if v.metric and v.verdict != PASS:
            v = _explained(group, v, split, fact)
        found.verdicts.append(v)
        is_estimate = not any(x != x for x in group.estimates[node])
        if v.verdict == PASS and not v.metric and is_estimate:
            healthy.append((abs(group.estimates[node][-1]), node))
    found.controls[group.setting] += [node for _, node in sorted(healthy)[:CONTROLS]]


def _of_node(group: Group, node: str, found: Judgement) -> NodeVerdict:
    lacks = group.lacks(node)
    if not lacks and (nothing := _nothing(group, node)):
        return _verdict(group, node, VALID, (Finding(nothing),))
    if trials := _trials(group, node):
        found.low[group.setting].append(node)
        return _tried(group, node, trials)
    if lacks:
        why = (Finding('lacks-metric', {'metrics': lacks}),)
        return _verdict(group, node, UNDECIDED, why, lacks[0])
    return _cleared(group, _verdict(group, node, PASS, ()))


def _nothing(group: Group, node: str) -> str:
    """The code of why a node cannot be compared; '' where it can."""
    if len(group.nodes) == 1:
        return 'unknown-build' if group.setting.is_of_unknown_build else 'alone'
    return '' if known(group.first[node].losses) else 'bounds-alone'


# --- all runs of a node --------------------------------------------------------------------


class _Trial(NamedTuple):
    """Of one metric in which a node was low."""

    column: int
    excess: float  # of the first low run: a multiple of the limit
    run: Run  # the first low one
    after: list[float]  # the losses of the runs after it, in order
    word: str


def _trials(group: Group, node: str) -> list[_Trial]:
    """Of each metric: it begins with the first measurement, if that is low, else with the first
    further run beyond the limit of a FAIL, and beyond what chance gives any node."""
    first, further, hour = group.first[node], group.after.get(node, []), group.hour(node)
    made = []
    for column, limit in enumerate(group.fail_limits):
        losses = [1 - (1 - run.losses[column]) / (1 - hour[column]) for run in further]
        far = max(limit, group.sure * group.deviations[column])
        begin, excess = 0, first.losses[column] / group.low_limits[column]
        if not excess > 1:
            begin = next((i for i, x in enumerate(losses, 1) if x > far), 0)
            excess = losses[begin - 1] / far if begin else 0.0
        if excess > 0:
            run = further[begin - 1] if begin else first
            word = _word(losses[begin:], limit, 1 if begin else AGAIN)
            made.append(_Trial(column, excess, run, losses[begin:], word))
    return made


def _word(after: list[float], limit: float, least: int) -> str:
    """FAIL: each of three and more runs after the first low one is beyond the limit, of four and
    more all but one of four. PASS: of so many neither the median nor the newest."""
    if len(after) >= AGAIN and sorted(after)[len(after) // AGAIN_BETTER] > limit:
        return FAIL
    return UNDECIDED if len(after) < least or max(_median(after), after[-1]) > limit else PASS


def _median(losses: list[float]) -> float:
    """Of an even number the worse one of the middle two."""
    return sorted(losses)[len(losses) // 2] if losses else 0.0


def _tried(group: Group, node: str, trials: list[_Trial]) -> NodeVerdict:
    """The worst word of its metrics, of these the one that was low by most."""
    order = (FAIL, UNDECIDED, PASS)
    column, _, run, after, word = min(trials, key=lambda t: (order.index(t.word), -t.excess))
    if word == UNDECIDED and len(after) < AGAIN:
        return _few(group, node, column, run, after)
    beside = [name for name in group.controls if name != node]
    beside = beside if beside[CONTROLS - 2 :] else []
    to = f'{len(beside)} nodes' if beside[2 * CONTROLS :] else fold(beside) or 'that median'
    few = len(after) // AGAIN_BETTER
    numbers = _loss(group, node, column, run) | _limit(group, column) | {
        'runs': len(after), 'low': sum(x > group.fail_limits[column] for x in after), 'to': to,
        'least': sorted(after)[few] if word == FAIL else _median(after), 'newest': after[-1],
    }  # fmt: skip
    why = (Finding(TRIED[word], numbers),)
    made = _verdict(group, node, word, why, group.columns[column], _median(after))
    return _cleared(group, made)


def _few(group: Group, node: str, column: int, run: Run, after: list[float]) -> NodeVerdict:
    """Not measured three times since: the nights before tell, if they are enough."""
    name, numbers = group.columns[column], _loss(group, node, column, run)
    limit, nights = group.fail_limits[column], _low_nights(group, node, column)
    if _is_low(group, group.now(node), column) and 1 + sum(nights) >= LOW_NIGHTS:
        numbers |= _limit(group, column)
        numbers |= {'low': 1 + sum(nights), 'nights': 1 + len(nights)}
        return _verdict(group, node, FAIL, (Finding('low-nights', numbers),), name)
    low = 1 + sum(loss > limit for loss in after)
    numbers |= {'runs': 1 + len(after), 'low': low, 'low_nights': sum(nights)}
    numbers |= {'margin': MARGIN, 'deviations': group.screening}
    numbers |= {'deviation': group.deviations[column]}
    return _verdict(group, node, UNDECIDED, (Finding('low-once', numbers),), name)


def _low_nights(group: Group, node: str, column: int) -> list[bool]:
    """Of each of the last nights before: whether it was beyond the limit of a FAIL."""
    name = group.columns[column]
    nights = [of for of in group.nights if node in of.first and name in of.columns]
    return [
        _is_low(of, of.first[node], of.columns.index(name)) for of in nights[: LAST_NIGHTS - 1]
    ]


def _is_low(group: Group, run: Run, column: int) -> bool:
    """Beyond the limit of a FAIL, and no bound."""
    return run.losses[column] > group.fail_limits[column] and not run.has_bound


# --- what else is asked --------------------------------------------------------------------


def _cleared(group: Group, v: NodeVerdict) -> NodeVerdict:
    """A PASS that would not have noticed the loss of a channel is none, nor of a node that lacks
    memory."""
    if v.verdict != PASS:
        return v
    if better := group.too_good(v.node):
        found = Finding('above-peers', _loss(group, v.node, *better))
        return _verdict(group, v.node, UNDECIDED, (found,), group.columns[better[0]])
    if lacks := _lacks_memory(group, v.node):
        return v._replace(verdict=UNDECIDED, findings=(*v.findings, lacks))
    least = group.noticed(v.node)
    if least <= CHANNEL:
        return v._replace(noticed=least)
    first = group.first[v.node].losses[group.head]
    numbers = {
        'loss': first if v.again is None else v.again, 'margin': MARGIN,
        'noticed': least if least < 1 else None, 'peers': v.peers, 'of': group.what,
    }  # fmt: skip
    why = (*v.findings, Finding('insensitive', numbers))
    return v._replace(verdict=UNDECIDED, findings=why, noticed=least)


def _lacks_memory(group: Group, node: str) -> Finding | None:
    """What its CPUs take, or its peers have."""
    f = group.first[node].figures.get(group.headline)
    if f and (lacks := lacks_of(f)):
        return lacks
    channels, most = group.channels(node), group.most_channels
    if 0 < channels < most:
        return Finding('fewer-channels', {'channels': channels, 'most': most})
    return None


def _explained(group: Group, v: NodeVerdict, split: Findings, fact: Findings) -> NodeVerdict:
    """With the fact that may explain it; `split`: a group that is slow has no FAIL."""
    if split:
        return v._replace(verdict=UNDECIDED, findings=split)
    if not fact:
        own, rest = group.facts([v.node]), group.facts_of_healthy
        if group.is_healthy(v.node):
            rest = {name: of - own[name] for name, of in rest.items()}
        fact = _difference(own, rest, (*BOUGHT, *LOST))
    return v._replace(findings=(*v.findings, *fact))


def _difference(ours: Facts, theirs: Facts, names: Sequence[str]) -> Findings:
    """The first of these facts without a value in common."""
    for name in names:
        one, other = ours[name], theirs[name]
        if other and None not in one | other and not one.keys() & other.keys():
            values = {'value': _most(one), 'usual': _most(other)}
            return (Finding('fact', {'name': name, **values}),)
    return ()


def _most(values: Counter[str | None]) -> str | None:
    return min(values, key=lambda value: (-values[value], str(value)))


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
    gap, most = slow[0] - fast[-1], slow[int(MOST_OF * (len(slow) - 1))]
    is_scattered = 2 * len(slow) < count and most - slow[0] > gap
    if is_scattered or gap <= max(MARGIN, sure_limit(count) * robust_deviation(within)):
        return set()
    return {node for node in group.nodes if group.estimates[node][-1] >= slow[0]}


def _verdict(
    group: Group,
    node: str,
    verdict: str,
    findings: Findings,
    metric: str = '',
    again: float | None = None,
) -> NodeVerdict:
    run = group.now(node)
    loss = run.losses[group.columns.index(metric) if metric else group.head]
    return NodeVerdict(
        node, verdict, findings, group.setting, run.figures, 0.0 if loss != loss else loss, metric,
        again, peers=group.peers_of(node),
    )  # fmt: skip


def _limit(group: Group, column: int) -> dict[str, Any]:
    """What the sentences on the limit of a FAIL need."""
    limit, deviation = group.fail_limits[column], group.deviations[column]
    return {'limit': limit, 'margin': MARGIN, 'deviation': deviation}


def _loss(group: Group, node: str, column: int, run: Run) -> dict[str, Any]:
    """What the sentences on a loss need."""
    name, loss, peers = group.columns[column], run.losses[column], group.peers_of(node)
    better = group.any[group.headline if name == MEAN else name].better
    own = {'metric': name, 'loss': loss, 'better': better, 'peers': peers, 'of': group.what}
    if name == MEAN:
        return own | {'rates': len(group.rates)}
    f = run.figures[name]
    bound = f.sign.replace('≥', '>=').replace('≤', '<=')
    median = group.medians[node][column]
    return own | {'value': f.value, 'bound': bound, 'unit': f.unit, 'median': median}
