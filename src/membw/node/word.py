"""The word for one node, by the judge of rank/judge.py, and why: for `membw node` and `membw why`.

It is given, in this order: other nodes of its kind; where there are none, the node's own first
runs; and its reference. The worst of what could be compared counts. What others published clears
nobody.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from membw.grouped import grouped
from membw.node.causes import Cause, Seen, find
from membw.node.quantities import BY_METRIC, counted_of, facts_of
from membw.rank.group import MEAN, Group
from membw.rank.judge import AGAIN, FACTS, NodeVerdict, judge, unusable
from membw.rank.ranking import Ranking, by_reference, rank_table
from membw.results import verdict
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings, text_of
from membw.results.newest import in_order
from membw.results.record import Record
from membw.results.table import Table
from membw.results.verdict import DIED, FAIL, INVALID, PASS
from membw.site.cpu_peak import facts_of as table_of

FIRST = 7  # runs of a node since a fact changed: what it is compared with, where it has no peers
OWN = 'earlier run'


class Compared(NamedTuple):
    """A node's newest figures in one setting, and what they were compared with."""

    verdict: NodeVerdict
    group: Group
    figures: dict[str, Figure]
    seen: Seen


class Word(NamedTuple):
    node: str
    word: str
    findings: Findings
    noticed: float  # the smallest loss that a PASS would have noticed; inf: none
    causes: list[Cause]
    compared: list[Compared]
    newest: Record | None

    @property
    def why(self) -> str:
        return text_of(self.findings)

    @property
    def text(self) -> str:
        return f'{self.word} ({self.why})' if self.why else self.word


def word_of(node: str, table: Table) -> Word:
    """Of the newest measurement of a node in a table of records of any nodes."""
    ranking = rank_table(table)
    own = [f for f in table.figures if f.node == node]
    verdicts = [v for v in ranking.verdicts if v.node == node]
    every = [one for v in verdicts if (one := _by_peers(v, ranking) or _by_past(v, own))]
    words = [(one.verdict.verdict, one.verdict.findings) for one in every]
    whole = next((n for n in ranking.nodes if n.name == node), None)
    if whole and (not every or whole.verdict in (*verdict.NO_FIGURE, INVALID, FAIL)):
        words.append((whole.verdict, whole.findings))
    word = verdict.worst(w for w, _ in words)
    causes = [cause for one in every for cause in _causes(one, word)]
    why = [Finding('cause', {'cause': cause.name, 'text': cause.text}) for cause in causes]
    why += [one for w, findings in words if w == word for one in findings]
    noticed = max((one.verdict.noticed for one in every), default=math.inf)
    runs = [*(f.of for f in own), *(one.of for one in table.lost if one.node == node)]
    newest = max(runs, key=lambda of: of.time).record if runs else None
    return Word(node, word, tuple(why), noticed, causes, every, newest)


def _by_peers(v: NodeVerdict, ranking: Ranking) -> Compared | None:
    """None: it has no peers."""
    own = (g for g in ranking.groups if v.node in g.figures and g.setting == v.setting)
    group = next(own, None)
    if not group or len(group.nodes) == 1:
        return None
    return Compared(v, group, group.figures[v.node], seen_of(group, v.node))


def _by_past(v: NodeVerdict, own: Sequence[Figure]) -> Compared | None:
    """By its first runs since a fact changed, and the newest four: low in each of them is FAIL.
    None: it was INVALID, or may be worse than it reads."""
    valid = (f for f in own if f.setting == v.setting and f.verdict == 'VALID')
    runs = in_order([*grouped((id(f.of), f) for f in valid).values()])
    if not runs or any(map(unusable, runs[-1])):
        return None
    runs = [run for run in runs if not any(map(unusable, run))]
    facts = [runs[-1][0].of.provenance.get(name) for name in FACTS]
    alike = [r for r in runs if [r[0].of.provenance.get(name) for name in FACTS] == facts]
    before = [r for r in alike[:-1] if verdict.known(r[0].of.word) not in (FAIL, DIED)][:FIRST]
    first = [f for n, run in enumerate(before) for f in _renamed(run, f'run {n + 1}')]
    later = alike[len(before) :]
    tried, again = later[-1], []
    if len(later) > AGAIN:
        tried, *again = later[-AGAIN - 1 :]
    judged = judge([*first, *later[-1]], what=OWN)
    if again and judged.low:
        judged = judge([*first, *tried], [f for run in again for f in run], what=OWN)
    by_runs = next(one for one in judged.verdicts if one.node == v.node)
    (own_verdict,) = by_reference([by_runs], runs[-1])
    group = next(g for g in judged.groups if v.node in g.figures)
    return Compared(own_verdict, group, group.figures[v.node], seen_of(group, v.node))


def _renamed(run: list[Figure], name: str) -> list[Figure]:
    of = dataclasses.replace(run[0].of, node=name)
    return [figure.replace(of=of) for figure in run]


def seen_of(group: Group, node: str) -> Seen:
    """What the table of causes is asked with."""
    shares, limits, bounds = {}, {}, set()
    for column, metric in enumerate(group.metrics):
        loss, quantity = group.losses[node][column], BY_METRIC.get(metric)
        if quantity and loss == loss:
            f = group.figures[node][metric]
            shares[quantity.cause] = f.share(group.medians[node][column])
            limits[quantity.cause] = group.fail_limit(column)
            bounds |= {quantity.cause} if f.is_bound else set()
    record = next(iter(group.figures[node].values())).of.record
    others = [next(iter(run.values())).of.record for n, run in group.figures.items() if n != node]
    facts, counted = (facts_of(record), counted_of(record)) if record else ({}, {})
    return Seen(shares, limits, facts, _usual(others), counted, bounds)


def _usual(records: Sequence[Record | None]) -> Mapping[str, Any]:
    """Of each fact the value that most of them have."""
    every: dict[str, Counter] = {}
    for record in filter(None, records):
        for name, value in facts_of(record).items():
            every.setdefault(name, Counter())[value] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in every.items()}


def _causes(one: Compared, word: str) -> list[Cause]:
    """Of a node that is low; of any, what disturbed it. A pattern of bounds is none."""
    is_low, bounds = bool(one.verdict.metric) and word != PASS, {*one.seen.bounds}
    found = find(one.seen, table_of('causes')['causes'])
    sure = (c for c in found if c.is_confirmed or not bounds & {*c.explains})
    return [cause for cause in sure if cause.disturbs or is_low]


def low_of(one: Compared) -> list[str]:
    """The metrics that decided: the one that was low, or each rate of their mean."""
    metric = one.verdict.metric
    return [one.group.metrics[n] for n in one.group.rates] if metric == MEAN else [metric]
