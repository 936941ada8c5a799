"""Who is judged by the records at hand, and by which of them.

Of each node and setting the newest night counts, if it lies within 14 days of the newest of all
nodes. Its first valid run there is the first measurement; valid runs after it in the same night
are the further ones, so that nothing marks them: measure the low nodes again and judge all files.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from membw.moments import day
from membw.plural import plural
from membw.rank.screen import MARGIN, Group, NodeVerdict, judge
from membw.results.hostlist import match_expected
from membw.results.table import Figure, Table, read_table
from membw.results.verdict import MISSING, WORST_FIRST

DAY_S = 86_400
OLD_DAYS = 14


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
    groups: list[Group]
    notes: list[str]
    problems: list[str]
    first: dict[str, Figure] = field(default_factory=dict)  # setting -> one of its figures

    def counts(self) -> str:
        """'5 nodes: 3 PASS, 1 FAIL, 0 INVALID, 1 MISSING'."""
        words = [node.verdict for node in self.nodes]
        shown = ('PASS', 'FAIL', 'INVALID', 'MISSING', 'SUSPECT')
        counts = [(words.count(word), word) for word in shown]
        parts = [f'{n} {word}' for n, word in counts if n or word != 'SUSPECT']
        return f'{plural(len(words), "node")}: {", ".join(parts)}'


def rank_files(
    paths: Sequence[str], expected: Sequence[str] = (), margin: float = MARGIN
) -> Ranking:
    """The ranking of what the files and folders hold; MembwError where one cannot be read."""
    return rank_table(read_table(paths), expected, margin)


def rank_table(table: Table, expected: Sequence[str] = (), margin: float = MARGIN) -> Ranking:
    """The verdict on every node of the table, and on every expected one without a record."""
    first, again, old = _measurements(table.figures)
    judged = judge(first, again, margin, table.provenance)
    low = defaultdict(list)
    for verdict in judged.verdicts:
        if verdict.verdict == 'SUSPECT' and verdict.node in judged.low:
            low[verdict.setting].append(verdict.node)
    measured = {v.node for v in judged.verdicts}
    names = match_expected(measured | set(old), expected)
    lost = {node: f'no record since {day(when)}' for node, when in old.items()}
    lost |= {node: 'no record' for node in names if node not in old}
    missing = [Node(n, MISSING, why) for n, why in lost.items() if n not in measured]
    nodes = sorted([*_worst(judged.verdicts), *missing])
    one = {f.setting: f for f in first}
    problems = list(table.problems)
    return Ranking(judged.verdicts, nodes, dict(low), judged.groups, judged.notes, problems, one)


def _measurements(
    figures: Sequence[Figure],
) -> tuple[list[Figure], list[Figure], dict[str, float]]:
    """(first, again, {node: when} of those not measured for OLD_DAYS); see the module."""
    newest = max((f.time for f in figures), default=0.0)
    last: dict[tuple, str] = {}
    for f in figures:
        if newest - f.time <= OLD_DAYS * DAY_S:
            last[f.setting, f.node] = max(last.get((f.setting, f.node), ''), f.night)
    runs: dict[tuple, dict[float, list[Figure]]] = defaultdict(lambda: defaultdict(list))
    old: dict[str, float] = {}
    for f in figures:
        if last.get((f.setting, f.node)) == f.night:
            runs[f.setting, f.node][f.time].append(f)
        elif newest - f.time > OLD_DAYS * DAY_S:
            old[f.node] = max(old.get(f.node, 0.0), f.time)
    first: list[Figure] = []
    again: list[Figure] = []
    for of_node in runs.values():
        times = sorted(of_node, key=lambda t: (of_node[t][0].verdict != 'VALID', t))
        first += of_node[times[0]]
        again += [f for time in times[1:] for f in of_node[time]]
    return first, again, {n: t for n, t in old.items() if n not in {f.node for f in first}}


def _worst(verdicts: Sequence[NodeVerdict]) -> list[Node]:
    worst: dict[str, NodeVerdict] = {}
    for verdict in sorted(verdicts, key=lambda v: WORST_FIRST.index(v.verdict)):
        worst.setdefault(verdict.node, verdict)
    return [Node(v.node, v.verdict, v.reason, v.figures) for v in worst.values()]
