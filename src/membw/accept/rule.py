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
from typing import NamedTuple

from membw.accept.protocol import Protocol
from membw.accept.runs import Run
from membw.grouped import grouped
from membw.moments import utc
from membw.printable import printable
from membw.results import provenance
from membw.results.findings import Finding, Findings
from membw.results.hostlist import fold
from membw.results.record import HIGHER
from membw.results.too_good import is_too_good
from membw.words import DIED, MISSING, PASS, UNDECIDED

BELOW = 'BELOW'  # the contract: its retest is due, or decided
STATUSES = (PASS, BELOW, DIED, UNDECIDED, MISSING)
MORE = (Finding('more-runs'),)
# what is set, or may get lost: equal on all nodes, and from run to run
ALIKE = (
    'governor', 'thp', 'numa_balancing', 'smt', 'hugepages_total', 'pages',
    'microcode', 'kernel_release', 'dimms', 'memory_channels', 'version',
)  # fmt: skip


class Round(NamedTuple):
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
    why: Findings = ()  # of UNDECIDED

    @property
    def has_failed(self) -> bool:
        """Whatever is still measured."""
        return self.status == DIED or self.status == BELOW and not self.needs

    @property
    def usable(self) -> list[Run]:
        return [run for run in self.runs if not run.why or run.why == MORE]


def place(statistic: str, runs: int) -> int:
    """Index of the figure that decides among so many runs, the best first; of an even number the
    median is the worse one of the middle two."""
    return {'best': 0, 'median': runs // 2, 'worst': runs - 1}[statistic]


class Decision:
    """ACCEPTED, REFUSED or INCOMPLETE (`verdict`, `why`), with everything that it follows from.

    `fleet`: the median of the nodes' first rounds; `limits`: the worst figures that pass;
    `elsewhere`: nodes with runs that the protocol does not name.
    """

    def __init__(self, protocol: Protocol, runs: Sequence[Run]) -> None:
        """`runs`: in order of time."""
        self.protocol, self.contract = protocol, protocol.contract
        by_node = grouped((run.node, run) for run in runs)
        reported = (name for name, of in by_node.items() if not all(run.is_aside for run in of))
        names = protocol.names or sorted(reported)
        self.nodes = [Node(name, by_node.pop(name, [])) for name in names]
        self.elsewhere = sorted(by_node)
        count = protocol.rounds[0][1]
        firsts = [self.figures(node.usable[:count]) for node in self.nodes if node.usable]
        self.peers = len(firsts)
        metrics = self.contract if firsts else ()
        self.fleet = {name: median(figures[name] for figures in firsts) for name in metrics}
        limits = {n: line.limit(self.fleet.get(n)) for n, line in self.contract.items()}
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        for node in self.nodes:
            self.count_rounds(node)
        usual = _usual(self.nodes)
        for node in self.with_status(PASS):
            if why := next(self.doubts(node, usual), None):
                node.status, node.why = UNDECIDED, (why,)
        failed = [n for n in self.nodes if n.has_failed]
        numbers = {'failed': len(failed), 'nodes': protocol.count, 'allowed': protocol.allowed}
        missing = [*self.missing()]
        self.verdict = 'INCOMPLETE' if missing else 'ACCEPTED'
        if len(failed) > protocol.allowed:  # no missing run could change it
            self.verdict, missing = 'REFUSED', []
        self.why: Findings = (*missing, Finding('failed', numbers))

    def with_status(self, status: str) -> list[Node]:
        return [node for node in self.nodes if node.status == status]

    @property
    def counts(self) -> dict[str, int]:
        """{status: how many nodes}."""
        return {status: len(self.with_status(status)) for status in STATUSES}

    @property
    def counted(self) -> list[Run]:
        return [run for node in self.nodes for run in node.runs if run.round]

    @property
    def reasons(self) -> list[str]:
        return [one.text for one in self.why]

    def figures(self, runs: Sequence[Run]) -> dict[str, float]:
        """{metric: the agreed statistic} of some runs."""
        at = place(self.protocol.runs['statistic'], len(runs))
        return {
            name: sorted((r.figures[name] for r in runs), reverse=line.better == HIGHER)[at]
            for name, line in self.contract.items()
        }

    def missed(self, figures: Mapping[str, float]) -> list[str]:
        own = {name: value for name, value in figures.items() if name in self.limits}
        return [
            n for n, value in own.items() if not self.contract[n].reaches(value, self.limits[n])
        ]

    def count_rounds(self, node: Node) -> None:
        """Gives the node its rounds and its status, and each run its place."""
        later = node.usable
        for run in node.runs:
            if run.why and not run.is_other:
                run.missed = (*self.missed(run.figures),)
            run.why = run.why or MORE
        node.deaths = sum(run.word == DIED for run in node.runs)
        if node.deaths > self.protocol.runs.get('deaths', 0):  # whatever the others reach
            node.status = DIED
            return
        for title, count in self.protocol.rounds:
            taken, later = later[:count], later[count:]
            for run in taken:
                run.round, run.why = title, ()
            if len(taken) < count:
                node.needs, node.needs_for = count - len(taken), title
                return
            figures = self.figures(taken)
            node.rounds.append(Round(title, figures, self.missed(figures)))
            node.status = BELOW if node.rounds[-1].missed else PASS
            if node.status == PASS:
                return

    def doubts(self, node: Node, usual: Mapping[str, tuple[str, int]]) -> Iterator[Finding]:
        """Why a node that passed is not what the runs say; with the way out."""
        for name, line in self.contract.items():
            value, base = node.rounds[-1].figures[name], self.fleet[name]
            share = value / base if line.better == HIGHER else base / value
            if is_too_good(share):
                own = {'metric': name, 'value': value, 'unit': line.unit, 'bound': ''}
                of = {'median': base, 'peers': self.peers, 'of': 'node', 'better': line.better}
                yield Finding('above-peers', {**own, **of, 'loss': 1 - share})
        for lacks in (one for run in node.usable for one in run.lacks):
            yield Finding('repair', lacks.numbers)
        for at, facts in provenance.changes(run.known for run in node.usable).items():
            text = printable(provenance.first_change(facts))
            yield Finding('changed', {'day': utc(node.usable[at].of.time)[:10], 'fact': text})
        for name, (most, count) in usual.items():
            own = {run.known[name]: None for run in node.usable if name in run.known}
            values = [printable(value)[:60] for value in own]
            if len(own) > 1:
                yield Finding('changes-between-runs', {'name': name, 'values': values})
            elif own and most not in own:
                of_most = {'usual': printable(most)[:60], 'nodes': count}
                yield Finding('unlike-the-nodes', {'name': name, 'value': values[0], **of_most})
        yield from _gaps(node)
        later = [run for run in node.usable if run.why == MORE]
        figures = self.figures(later) if later else node.rounds[-1].figures
        if missed := self.missed(figures):
            below = {name: figures[name] for name in missed}
            yield Finding('later-below', {'runs': len(later), 'figures': below})

    def missing(self) -> Iterator[Finding]:
        """What is due, undecided, or not signed."""
        protocol, count = self.protocol, self.protocol.count
        absent = [n for n in self.nodes if all(run.is_aside for run in n.runs)]
        reported = len(self.nodes) - len(absent)
        doubts = grouped((node.why[0].text, node) for node in self.with_status(UNDECIDED))
        for text, nodes in doubts.items():
            code, names = nodes[0].why[0].code, fold(node.name for node in nodes)
            yield Finding('undecided', {'nodes': names, 'code': code, 'text': text})
        if reported < count:
            names = fold(node.name for node in absent)
            yield Finding(
                'not-measured', {'lacking': count - reported, 'of': count, 'names': names}
            )
        if reported > count:
            yield Finding('too-many-nodes', {'nodes': reported, 'of': count})
        for title, _ in protocol.rounds:
            nodes = [n for n in self.nodes if n not in absent and n.needs_for == title]
            if nodes:
                of = {
                    'round': title,
                    'until': protocol.until,
                    'nodes': fold(n.name for n in nodes),
                }
                yield Finding('runs-due', {'runs': sum(n.needs for n in nodes), **of})
        first, *others = [{*setting} for setting in {r.setting for r in self.counted}] or [set()]
        if others:
            differing = sorted(first.union(*others) - first.intersection(*others))
            values = [f'{name}={value}' for name, value in differing if value]
            yield Finding('settings', {'settings': 1 + len(others), 'values': values})
        for party, why in protocol.unsigned.items():
            yield Finding('unsigned', {'party': party, 'text': why})


def _usual(nodes: Sequence[Node]) -> dict[str, tuple[str, int]]:
    """{fact of ALIKE: (what most nodes have, how many)}."""
    found: dict[str, tuple[str, int]] = {}
    for name in ALIKE:
        each = (
            [r.known[name] for r in node.runs if r.round and name in r.known] for node in nodes
        )
        if counts := Counter(values[0] for values in each if values).most_common(1):
            found[name] = counts[0]
    return found


def _gaps(node: Node) -> Iterator[Finding]:
    """Measurements of a session that were counted, and of which there is no record."""
    own = (run.of for run in node.runs if not run.is_other)
    for session, numbers in grouped((of.session, of.number) for of in own).items():
        if lacking := {*range(max(numbers) + 1)} - {*numbers}:
            yield Finding('no-records', {'measurements': len(lacking), 'session': session})
