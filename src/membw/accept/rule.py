"""The rule of an acceptance protocol, applied to runs.

A node passes when in the first round the agreed statistic of its runs reaches the contract in
every metric, or when it does in the retest. The machine is accepted when at most so many nodes
fail both as the protocol allows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from membw.accept.protocol import Protocol
from membw.accept.runs import Run
from membw.printable import plural
from membw.results.hostlist import fold
from membw.results.table import HIGHER
from membw.results.verdict import FAIL, MISSING, PASS, TOO_GOOD, UNDECIDED, too_good_because

STATUSES = (PASS, FAIL, UNDECIDED, MISSING)


@dataclass
class Round:
    """Runs of one round of one node, and their statistic."""

    name: str  # first or retest
    figures: dict[str, float]
    missed: list[str]  # metrics that do not reach the contract


@dataclass
class Node:
    """PASS (perhaps by the retest), FAIL, UNDECIDED (`why`), or MISSING: runs are."""

    name: str
    status: str = MISSING
    runs: list[Run] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    needs: int = 0  # further valid runs
    needs_for: str = ''  # first or retest
    lost: int = 0  # runs that were to count and could not, where they are too many
    why: str = ''  # of UNDECIDED


@dataclass
class Decision:
    """ACCEPTED, REFUSED or INCOMPLETE, with everything that it follows from."""

    protocol: Protocol
    verdict: str
    why: list[str]
    nodes: list[Node]
    limits: dict[str, float]  # metric -> worst figure that passes
    elsewhere: list[str]  # nodes with runs that the protocol does not name

    def with_status(self, status: str) -> list[Node]:
        return [node for node in self.nodes if node.status == status]

    @property
    def counted(self) -> list[Run]:
        return [r for n in self.nodes for r in n.runs if r.counted in ('first', 'retest')]


MORE = 'more than the protocol requires'


def place(statistic: str, runs: int) -> int:
    """Index of the figure that decides among so many runs, the best first; of an even number the
    median is the worse one of the middle two."""
    return {'best': 0, 'median': runs // 2, 'worst': runs - 1}[statistic]


def decide(protocol: Protocol, runs: Sequence[Run]) -> Decision:
    """A Decision on runs in order of time: of a node the earliest valid ones count, no choice."""
    by_node: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_node[run.node].append(run)
    names = protocol.names or sorted(n for n, of in by_node.items() if any(map(_is_under, of)))
    count = protocol.rounds[0][1]
    firsts = [[run for run in by_node[name] if not run.why_not][:count] for name in names]
    fleet = {
        name: median(_figures(protocol, taken)[name] for taken in firsts if taken)
        for name in protocol.contract
        if any(firsts)
    }
    lines = protocol.contract.items()
    limits = {n: limit for n, line in lines if (limit := line.limit(fleet.get(n))) is not None}
    judge = partial(_judge, protocol, limits, fleet)
    nodes = [judge(name, by_node.pop(name, [])) for name in names]
    decision = Decision(protocol, '', [], nodes, limits, sorted(by_node))
    decision.verdict, decision.why = _verdict(decision)
    return decision


def _is_under(run: Run) -> bool:
    return not run.why_not.startswith('not under')


def _figures(protocol: Protocol, runs: list[Run]) -> dict[str, float]:
    """{metric: the agreed statistic} of some runs."""
    at = place(protocol.runs['statistic'], len(runs))
    return {
        name: sorted((r.figures[name] for r in runs), reverse=line.better == HIGHER)[at]
        for name, line in protocol.contract.items()
    }


def _judge(
    protocol: Protocol,
    limits: dict[str, float],
    fleet: dict[str, float],
    name: str,
    runs: list[Run],
) -> Node:
    node = Node(name, runs=runs)
    for run in runs:
        run.counted = run.why_not
    usable = [run for run in runs if not run.why_not]
    most, gone = protocol.runs.get('lost'), lost(runs)
    dead = sum(run.died and _is_under(run) for run in runs)
    if dead > protocol.runs.get('deaths', 0):  # whatever the others reach
        node.status, node.lost = FAIL, gone
        return node
    for title, count in protocol.rounds:
        taken, usable = usable[:count], usable[count:]
        for run in taken:
            run.counted = title
        if most is not None and len(taken) < count and gone > most:
            node.status, node.lost = FAIL, gone
            return node
        if len(taken) < count:
            node.needs, node.needs_for, node.status = count - len(taken), title, MISSING
            return node
        figures = _figures(protocol, taken)
        missed = [
            n for n, line in protocol.contract.items() if not line.reaches(figures[n], limits[n])
        ]
        node.rounds.append(Round(title, figures, missed))
        node.status = FAIL if missed else PASS
        if not missed:
            break
    for run in usable:
        run.counted = MORE
    if node.status == PASS:
        node.why = _too_good(protocol, fleet, node) or _contradicted(protocol, limits, usable)
        node.status = UNDECIDED if node.why else PASS
    return node


def _too_good(protocol: Protocol, fleet: dict[str, float], node: Node) -> str:
    """'triad 802.4 GB/s, the median of the nodes is 184: ...'; '' where a node can be so good."""
    for name, value in node.rounds[-1].figures.items():
        line, base = protocol.contract[name], fleet[name]
        share = value / base if line.better == HIGHER else base / value
        if share > 1 + TOO_GOOD:
            return (
                f'{name} {value:.4g} {line.unit}, the median of the nodes is {base:.4g}: '
                f'{too_good_because()}'
            )
    return ''


def _contradicted(protocol: Protocol, limits: dict[str, float], later: list[Run]) -> str:
    """Why runs after those that counted say something else; '' where they do not, or are few."""
    count = protocol.rounds[0][1]
    if len(later) < count:
        return ''
    figures = _figures(protocol, later[-count:])
    missed = [n for n, x in protocol.contract.items() if not x.reaches(figures[n], limits[n])]
    said = ', '.join(f'{n} {figures[n]:.4g}' for n in missed)
    return f'its last {plural(count, "run")} miss the contract: {said}' if missed else ''


def lost(runs: Sequence[Run]) -> int:
    """Runs under the protocol that gave no figure: INVALID, disturbed, or died."""
    return sum(bool(r.why_not) and _is_under(r) and not r.is_copy for r in runs)


def _verdict(decision: Decision) -> tuple[str, list[str]]:
    """REFUSED as soon as no missing run could change it."""
    protocol, failed = decision.protocol, decision.with_status(FAIL)
    text = f'{len(failed)} of {protocol.count} nodes failed, {protocol.allowed} allowed'
    if len(failed) > protocol.allowed:
        return 'REFUSED', [text]
    missing = list(_missing(decision))
    return ('INCOMPLETE' if missing else 'ACCEPTED'), [*missing, text]


def _missing(decision: Decision) -> Iterator[str]:
    protocol, count = decision.protocol, decision.protocol.count
    every = decision.with_status(MISSING)
    absent = [n for n in every if not any(map(_is_under, n.runs))]
    open_nodes = [n for n in every if n not in absent]
    reported = len(decision.nodes) - len(absent)
    yield from (f'{n.name}: {n.why}' for n in decision.with_status(UNDECIDED))
    if reported < count:
        which = f': {fold(n.name for n in absent)}' if absent else ''
        yield f'{count - reported} of {count} nodes have no run under the protocol{which}'
    if reported > count:
        yield f'{reported} nodes reported, the protocol is of {count}: name them in nodes.names'
    for title, _ in protocol.rounds:
        nodes = [n for n in open_nodes if n.needs_for == title]
        if nodes:
            runs = plural(sum(n.needs for n in nodes), 'valid run')
            yield f'{runs} of the {title} round missing on {fold(n.name for n in nodes)}'
    settings = Counter(run.setting for run in decision.counted)
    if len(settings) > 1:
        own = [set(setting) for setting in settings]
        differing = sorted(own[0].union(*own[1:]) - own[0].intersection(*own[1:]))
        which = ', '.join(f'{name}={value}' for name, value in differing if value)
        yield f'counted runs are of {len(settings)} settings: {which}'
    if protocol.unsigned:
        yield f'not signed by {", ".join(protocol.unsigned)}'
