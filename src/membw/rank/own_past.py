"""A node without peers, compared with its own first runs, by the same judge: they stand for peers,
and its newest four runs for a measurement and the three after it."""

import dataclasses
from collections.abc import Sequence

from membw.grouped import grouped
from membw.rank.group import Group
from membw.rank.judge import AGAIN, NodeVerdict, judge, unusable
from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.findings import codes
from membw.results.newest import in_order
from membw.results.provenance import BOUGHT
from membw.words import DIED, FAIL, VALID

FIRST = 7  # runs that stand for peers; fewer condemn, and clear nothing
OWN = 'earlier run'
Past = dict[tuple[str, Case], tuple[NodeVerdict, Group]]


def by_past(verdicts: Sequence[NodeVerdict], figures: Sequence[Figure]) -> Past:
    """{(node, setting): verdict, group} of those that were compared with nothing."""
    alone = {(v.node, v.setting) for v in verdicts if 'alone' in codes(v.findings)}
    valid = (f for f in figures if (f.node, f.setting) in alone and f.verdict == VALID)
    every = grouped(((f.node, f.setting), f) for f in valid)
    return {key: made for key, of in every.items() if (made := _by_past(key[0], of))}


def _by_past(node: str, own: Sequence[Figure]) -> tuple[NodeVerdict, Group] | None:
    """None: the newest may be worse than it reads, or nothing is there to compare it with."""
    runs = in_order([*grouped((id(f.of), f) for f in own).values()])
    if any(map(unusable, runs[-1])):
        return None
    of_session = {run[0].of.session or id(run): run for run in runs}  # rounds are one run
    bought = _bought(runs[-1])
    alike = [r for r in of_session.values() if not any(map(unusable, r)) and _bought(r) == bought]
    enough = len(alike) > FIRST
    for count in (min(FIRST, max(len(alike) - 1 - AGAIN, AGAIN), len(alike) - 1), FIRST * enough):
        if count and (made := _compared(node, alike, count)):
            verdict, _ = made
            if verdict.metric or count == FIRST:
                return made
    return None


def _compared(node: str, runs: list[list[Figure]], count: int) -> tuple[NodeVerdict, Group]:
    """With the first of its runs, of which none is known to be bad."""
    before, later = runs[:count], runs[count:]
    sound = [run for run in before if run[0].of.word not in (FAIL, DIED)]
    first = [f for n, run in enumerate(sound) for f in _renamed(run, f'run {n + 1}')]
    tried, *again = later[-1 - AGAIN :]
    found = judge([*first, *tried], [f for run in again for f in run], what=OWN)
    verdict = next(one for one in found.verdicts if one.node == node)
    return verdict, next(g for g in found.groups if node in g.first)


def _bought(run: list[Figure]) -> list[str | None]:
    return [run[0].of.provenance.get(name) for name in BOUGHT]


def _renamed(run: list[Figure], name: str) -> list[Figure]:
    of = dataclasses.replace(run[0].of, node=name)
    return [figure.replace(of=of) for figure in run]
