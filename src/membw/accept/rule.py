"""The rule of an acceptance protocol, applied to runs.

A node passes when in the first round the agreed statistic of its runs reaches the contract in
every metric, or when it does in the retest; of its valid runs the earliest count. It is UNDECIDED
when it passes so, and what its records say of themselves, its peers or its later runs contradict
it. The machine is accepted when at most so many nodes fail as the protocol allows.
"""

from collections import Counter
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
from membw.words import DIED, MISSING, PASS, UNDECIDED

BELOW = 'BELOW'  # the contract: its retest is due, or decided
STATUSES = (PASS, BELOW, DIED, UNDECIDED, MISSING)
MORE = 'more than the protocol requires'
# what is set, or may get lost: equal on all nodes, and from run to run
ALIKE = (
    'governor', 'thp', 'numa_balancing', 'smt', 'hugepages_total', 'pages',
    'microcode', 'kernel_release', 'dimms', 'memory_channels', 'version',
)  # fmt: skip


@dataclass
class Round:
    """Runs of one round of one node, and their statistic."""

    name: str  # first or retest
    figures: dict[str, float]
    missed: list[str]  # metrics that do not reach the contract


@dataclass
class Node:
    """PASS (perhaps by the retest), BELOW, DIED, UNDECIDED (`why`), or MISSING: runs are."""

    name: str
    runs: list[Run]
    status: str = MISSING
    rounds: list[Round] = field(default_factory=list)
    needs: int = 0  # further valid runs
    needs_for: str = ''  # first or retest
    deaths: int = 0
    why: str = ''  # of UNDECIDED

    @property
    def has_failed(self) -> bool:
        """Whatever is still measured."""
        return self.status == DIED or self.status == BELOW and not self.needs

    @property
    def counted(self) -> list[Run]:
        return [run for run in self.runs if run.counted in ('first', 'retest')]


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
        return [run for node in self.nodes for run in node.counted]


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
    usual = _usual(nodes)
    for node in nodes:
        if node.status == PASS and (why := next(judge.doubts(node, usual), '')):
            node.status, node.why = UNDECIDED, why
    decision = Decision(protocol, '', [], nodes, judge.limits, sorted(by_node))
    decision.verdict, decision.why = _verdict(decision)
    return decision


def _usual(nodes: Sequence[Node]) -> dict[str, tuple[str, int]]:
    """{fact of ALIKE: (what most nodes have, how many)}."""
    found: dict[str, tuple[str, int]] = {}
    for name in ALIKE:
        firsts = (next((r.known[name] for r in n.counted if name in r.known), '') for n in nodes)
        if counts := Counter(filter(None, firsts)).most_common(1):
            found[name] = counts[0]
    return found


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
        return [
            n for n, line in lines if n in figures and not line.reaches(figures[n], self.limits[n])
        ]

    def node(self, node: Node) -> Node:
        later = [run for run in node.runs if not run.why_not]
        for run in node.runs:
            run.counted = run.why_not or MORE
            if run.why_not and not run.is_other and run.figures and self.limits:
                run.missed = (*self.missed(run.figures),)
        node.deaths = sum(run.died and not run.is_aside for run in node.runs)
        if node.deaths > self.protocol.runs.get('deaths', 0):  # whatever the others reach
            node.status = DIED
            return node
        for title, count in self.protocol.rounds:
            taken, later = later[:count], later[count:]
            for run in taken:
                run.counted = title
            if len(taken) < count:
                node.needs, node.needs_for = count - len(taken), title
                return node
            figures = self.figures(taken)
            node.rounds.append(Round(title, figures, self.missed(figures)))
            node.status = BELOW if node.rounds[-1].missed else PASS
            if node.status == PASS:
                break
        return node

    def doubts(self, node: Node, usual: Mapping[str, tuple[str, int]]) -> Iterator[str]:
        """Why a node that passed is not what the runs say; with the way out."""
        usable = [run for run in node.runs if not run.why_not]
        for name, line in self.contract.items():
            value, base = node.rounds[-1].figures[name], self.fleet[name]
            if is_too_good(value / base if line.better == HIGHER else base / value):
                what = f'{name} is more than {TENTH:.0%} better than the nodes'
                yield f'{what}, {amount(base)} {line.unit}: {TOO_GOOD}'
        for lacks in {run.lacks: None for run in usable if run.lacks}:
            yield f'{lacks}: repair it, or agree on nodes.peak_gbs'
        for at, facts in provenance.changes(run.known for run in usable).items():
            text = printable(provenance.first_change(facts))
            day = utc(usable[at].time)[:10]
            yield f'changed by {day}: {text}: sign that in replaced, or measure as before'
        for name, (most, count) in usual.items():
            own = {run.known[name]: None for run in usable if name in run.known}
            if len(own) > 1:
                yield f'{name} was {_or(own)} from run to run: measure all with one'
            elif own and most not in own:
                usual_one = f"'{printable(most)[:60]}' on {plural(count, 'node')}"
                yield f'{name} {_or(own)}, {usual_one}: measure it so, or sign it in runs.record'
        yield from _gaps(node)
        later = [run for run in usable if run.counted == MORE]
        figures = self.figures(later) if later else node.rounds[-1].figures
        if missed := self.missed(figures):
            said = ', '.join(f'{name} {amount(figures[name])}' for name in missed)
            runs = f'its {plural(len(later), "later run")} {"miss" if later[1:] else "misses"}'
            yield f'{runs} the contract ({said}): measure again, or sign a repair in replaced'


def _or(values: Mapping[str, None]) -> str:
    return ' or '.join(f"'{printable(value)[:60]}'" for value in values)


def _gaps(node: Node) -> Iterator[str]:
    """Measurements of a session that were counted, and of which there is no record."""
    for session, numbers in grouped(run.session for run in node.runs if not run.is_other).items():
        lacking = sorted({*range(max(numbers) + 1)} - {*numbers})
        if lacking:
            of = f' of {session}' if session else ''
            yield (
                f'no record of {plural(len(lacking), "measurement")}{of} between those that are '
                'there: add them to --results'
            )


def _verdict(decision: Decision) -> tuple[str, list[str]]:
    """REFUSED as soon as no missing run could change it."""
    protocol, failed = decision.protocol, [n for n in decision.nodes if n.has_failed]
    text = f'{len(failed)} of {protocol.count} nodes failed, {protocol.allowed} allowed'
    if len(failed) > protocol.allowed:
        return 'REFUSED', [text]
    missing = list(_missing(decision))
    return ('INCOMPLETE' if missing else 'ACCEPTED'), [*missing, text]


def _missing(decision: Decision) -> Iterator[str]:
    protocol, count = decision.protocol, decision.protocol.count
    absent = [n for n in decision.nodes if all(run.is_aside for run in n.runs)]
    reported = len(decision.nodes) - len(absent)
    doubts = grouped((node.why, node.name) for node in decision.with_status(UNDECIDED))
    yield from (f'{fold(names)}: {why}' for why, names in doubts.items())
    if reported < count:
        which = f': {fold(n.name for n in absent)}' if absent else ''
        yield f'{count - reported} of {count} nodes have no run under the protocol{which}'
    if reported > count:
        yield f'{reported} nodes reported, the protocol is of {count}: name them in nodes.names'
    for title, _ in protocol.rounds:
        nodes = [n for n in decision.nodes if n not in absent and n.needs_for == title]
        if nodes:
            runs, names = plural(sum(n.needs for n in nodes), 'run'), fold(n.name for n in nodes)
            yield f'{runs} of the {title} round due by {protocol.until} on {names}'
    first, *others = [{*setting} for setting in {r.setting for r in decision.counted}] or [set()]
    if others:
        differing = sorted(first.union(*others) - first.intersection(*others))
        which = ', '.join(f'{name}={value}' for name, value in differing if value)
        yield f'counted runs are of {1 + len(others)} settings: {which}: measure all with one'
    for party, why in protocol.unsigned.items():
        yield f'not signed by {party}: {why}'
