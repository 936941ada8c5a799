"""The verdict on every node of the newest measurement, and on every expected one without it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from membw.printable import plural
from membw.rank.newest import OLD_S, TOGETHER_S, newest
from membw.rank.screen import MARGIN, Group, NodeVerdict, judge
from membw.rank.units import units
from membw.results.hostlist import match_expected
from membw.results.table import Figure, Lost, Table, read_table
from membw.results.verdict import DIED, MISSING, NOT_MEASURED, OF_NODE, WORST_FIRST

NO_REASONS: Mapping[str, str] = {}


class Node(NamedTuple):
    """The worst verdict on a node, of all its settings."""

    name: str
    verdict: str
    reason: str
    figures: dict[str, float] = {}


@dataclass
class Ranking:
    """`verdicts`: of each node and setting; `nodes`: of each node, by name."""

    verdicts: list[NodeVerdict]
    nodes: list[Node]
    low: dict[str, list[str]]  # setting -> nodes to measure again
    controls: dict[str, list[str]]  # setting -> healthy nodes to measure with them
    groups: list[Group]
    notes: list[str]
    problems: list[str]
    first: dict[str, Figure] = field(default_factory=dict)  # setting -> one of its figures

    def choose(self, names: set[str]) -> None:
        """Keeps what is said of these nodes; all were compared."""
        self.nodes = [node for node in self.nodes if node.name in names]
        self.verdicts = [verdict for verdict in self.verdicts if verdict.node in names]
        self.low = {
            at: kept for at, low in self.low.items() if (kept := [n for n in low if n in names])
        }

    def counts(self) -> str:
        """'5 nodes: 3 PASS, 1 FAIL, 0 INVALID, 1 MISSING'."""
        words = [node.verdict for node in self.nodes]
        shown = ('PASS', 'FAIL', 'INVALID', 'MISSING', DIED, 'SUSPECT', 'UNDECIDED', NOT_MEASURED)
        counts = [(words.count(word), word) for word in shown]
        parts = [f'{n} {word}' for n, word in counts if n or word not in shown[4:]]
        return f'{plural(len(words), "node")}: {", ".join(parts)}'


def rank_files(
    paths: Sequence[str],
    expected: Sequence[str] = (),
    margin: float = MARGIN,
    because: Mapping[str, str] = NO_REASONS,
) -> Ranking:
    """The ranking of what the files and folders hold; MembwError where one cannot be read."""
    return rank_table(read_table(paths, OLD_S), expected, margin, because)


def rank_table(
    table: Table,
    expected: Sequence[str] = (),
    margin: float = MARGIN,
    because: Mapping[str, str] = NO_REASONS,
) -> Ranking:
    """The verdict on every node of the table, and on every expected one without a record;
    `because`: {node: why it may be missing}."""
    first, again, missed = newest(table.figures, table.seen)
    judged = judge(first, again, margin, table.provenance, units)
    judged.verdicts = by_own_word(judged.verdicts, [*first, *again])
    low = defaultdict(list)
    for verdict in judged.verdicts:
        if verdict.verdict == 'SUSPECT':
            low[verdict.setting].append(verdict.node)
    measured = {v.node for v in judged.verdicts}
    names = match_expected(measured | set(missed), expected)
    without = {node: because.get(node, 'no record') for node in set(names) - measured} | missed
    lost = {node: Node(node, MISSING, why) for node, why in without.items()}
    nodes = _worst(judged.verdicts, lost | died(table))
    one = {f.setting: f for f in first}
    problems = list(table.problems)
    controls = {setting: judged.controls[setting] for setting in low}
    return Ranking(
        judged.verdicts, nodes, dict(low), controls, judged.groups, judged.notes, problems, one
    )


def by_own_word(verdicts: Sequence[NodeVerdict], figures: Sequence[Figure]) -> list[NodeVerdict]:
    """What `membw node` said of a node goes before what its figures alone say."""
    own = {(f.node, f.setting): f for f in figures if f.word in OF_NODE}
    return [
        v._replace(verdict=OF_NODE[f.word], reason=f.why)
        if (f := own.get((v.node, v.setting)))
        else v
        for v in verdicts
    ]


def died(table: Table) -> dict[str, Node]:
    """Nodes of which the last launch of a test brought no figure, or not all, in the time of a
    measurement. Another test that ran since says nothing of it."""
    last = {_test(figure): figure.time for figure in table.figures}
    end = max([*last.values(), *(one.time for one in table.lost)], default=0.0)
    return {
        one.node: Node(one.node, one.word, one.text)
        for one in sorted(table.lost, key=lambda one: one.time)
        if one.node and end - one.time <= TOGETHER_S and one.time >= last.get(_test(one), 0.0)
    }


def _test(one: Figure | Lost) -> tuple[str, ...]:
    return one.node, one.benchmark, one.parameters, one.preset, one.pinning


def _worst(verdicts: Sequence[NodeVerdict], missing: dict[str, Node]) -> list[Node]:
    """By name; what was not measured is worse than a PASS in another series."""
    every = [*missing.values(), *(Node(v.node, v.verdict, v.reason, v.figures) for v in verdicts)]
    worst: dict[str, Node] = {}
    for node in sorted(every, key=lambda node: WORST_FIRST.index(node.verdict)):
        worst.setdefault(node.name, node)
    return sorted(worst.values())
