"""The rule of an acceptance protocol, applied to runs.

A node passes when in the first round the agreed statistic of its runs reaches the contract in
every metric, or when it does in the retest; of its valid runs the earliest count. It is UNDECIDED
when it passes so, and is too good, later runs contradict it, or it changed meanwhile. The machine
is accepted when at most so many nodes fail both rounds as the protocol allows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from membw.accept.protocol import Protocol
from membw.accept.runs import Run
from membw.grouped import grouped
from membw.moments import utc
from membw.printable import amount, plural, printable
from membw.results import provenance
from membw.results.findings import TOO_GOOD
from membw.results.hostlist import fold
from membw.results.record import HIGHER
from membw.results.too_good import TENTH, is_too_good
from membw.words import FAIL, MISSING, PASS, UNDECIDED

STATUSES = (PASS, FAIL, UNDECIDED, MISSING)
MORE = 'more than the protocol requires'


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
    runs: list[Run]
    status: str = MISSING
    rounds: list[Round] = field(default_factory=list)
    needs: int = 0  # further valid runs
    needs_for: str = ''  # first or retest
    lost: int = 0  # runs that gave no figure, where they are too many
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


def place(statistic: str, runs: int) -> int:
    """Index of the figure that decides among so many runs, the best first; of an even number the
    median is the worse one of the middle two."""
    return {'best': 0, 'median': runs // 2, 'worst': runs - 1}[statistic]


def decide(protocol: Protocol, runs: Sequence[Run]) -> Decision:
    """A Decision on runs in order of time."""
    by_node = grouped((run.node, run) for run in runs)
    reported = (name for name, of in by_node.items() if not all(run.is_aside for run in of))
    names = protocol.names or sorted(reported)
    every = [Node(name, by_node.pop(name, [])) for name in names]
    judge = _Judge(protocol, [[r for r in node.runs if not r.why_not] for node in every])
    nodes = [judge.node(node) for node in every]
    decision = Decision(protocol, '', [], nodes, judge.limits, sorted(by_node))
    decision.verdict, decision.why = _verdict(decision)
    return decision


class _Judge:
    """`fleet`: the median of the nodes' first rounds, `limits`: the worst figure that passes."""

    def __init__(self, protocol: Protocol, usable: list[list[Run]]) -> None:
        self.protocol, self.contract = protocol, protocol.contract
        self.count = protocol.rounds[0][1]
        firsts = [self.figures(runs[: self.count]) for runs in usable if runs]
        names = self.contract if firsts else ()
        self.fleet = {name: median(figures[name] for figures in firsts) for name in names}
        limits = {n: line.limit(self.fleet.get(n)) for n, line in self.contract.items()}
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}

    def figures(self, runs: Sequence[Run]) -> dict[str, float]:
        """{metric: the agreed statistic} of some runs."""
        at = place(self.protocol.runs['statistic'], len(runs))
        return {
            name: sorted((r.figures[name] for r in runs), reverse=line.better == HIGHER)[at]
            for name, line in self.contract.items()
        }

    def missed(self, figures: Mapping[str, float]) -> list[str]:
        lines = self.contract.items()
        return [n for n, line in lines if not line.reaches(figures[n], self.limits[n])]

    def node(self, node: Node) -> Node:
        gone = [run for run in node.runs if run.why_not and not run.is_aside]
        usable = [run for run in node.runs if not run.why_not]
        for run in node.runs:
            run.counted = run.why_not or MORE
        agreed = self.protocol.runs
        if sum(run.died for run in gone) > agreed.get('deaths', 0):  # whatever the others reach
            node.status, node.lost = FAIL, len(gone)
            return node
        later = usable
        for title, count in self.protocol.rounds:
            taken, later = later[:count], later[count:]
            for run in taken:
                run.counted = title
            if len(taken) < count:
                if len(gone) > agreed.get('lost', len(gone)):
                    node.status, node.lost = FAIL, len(gone)
                else:
                    node.needs, node.needs_for, node.status = count - len(taken), title, MISSING
                return node
            figures = self.figures(taken)
            node.rounds.append(Round(title, figures, self.missed(figures)))
            node.status = FAIL if node.rounds[-1].missed else PASS
            if node.status == PASS:
                break
        node.why = next(self._doubts(node, usable, later), '') if node.status == PASS else ''
        node.status = UNDECIDED if node.why else node.status
        return node

    def _doubts(self, node: Node, usable: Sequence[Run], later: Sequence[Run]) -> Iterator[str]:
        """Why a node that passed is not what the runs say."""
        for name, line in self.contract.items():
            value = node.rounds[-1].figures[name]
            for whose, base in ('nodes', self.fleet[name]), ('contract', line.value or value):
                if is_too_good(value / base if line.better == HIGHER else base / value):
                    what = f'{name} is more than {TENTH:.0%} better than the {whose}'
                    yield f'{what}, {amount(base)} {line.unit}: {TOO_GOOD}'
        yield from (f'{run.too_good}: {TOO_GOOD}' for run in usable if run.too_good)
        for at, facts in provenance.changes(run.known for run in usable).items():
            text = printable(provenance.first_change(facts))
            day = utc(usable[at].time)[:10]
            yield f'changed by {day}: {text}: sign that in replaced, or measure as before'
        figures = self.figures(later) if later else node.rounds[-1].figures
        if missed := self.missed(figures):
            said = ', '.join(f'{name} {amount(figures[name])}' for name in missed)
            runs = f'its {plural(len(later), "later run")} {"miss" if later[1:] else "misses"}'
            yield f'{runs} the contract ({said}): measure again, or sign a repair in replaced'


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
    absent = [n for n in every if all(run.is_aside for run in n.runs)]
    reported = len(decision.nodes) - len(absent)
    doubts = grouped((node.why, node.name) for node in decision.with_status(UNDECIDED))
    yield from (f'{fold(names)}: {why}' for why, names in doubts.items())
    if reported < count:
        which = f': {fold(n.name for n in absent)}' if absent else ''
        yield f'{count - reported} of {count} nodes have no run under the protocol{which}'
    if reported > count:
        yield f'{reported} nodes reported, the protocol is of {count}: name them in nodes.names'
    for title, _ in protocol.rounds:
        nodes = [n for n in every if n not in absent and n.needs_for == title]
        if nodes:
            runs = plural(sum(n.needs for n in nodes), 'valid run')
            yield f'{runs} of the {title} round missing on {fold(n.name for n in nodes)}'
    first, *others = [{*setting} for setting in {r.setting for r in decision.counted}] or [set()]
    if others:
        differing = sorted(first.union(*others) - first.intersection(*others))
        which = ', '.join(f'{name}={value}' for name, value in differing if value)
        yield f'counted runs are of {1 + len(others)} settings: {which}'
    if protocol.unsigned:
        yield f'not signed by {", ".join(protocol.unsigned)}'
