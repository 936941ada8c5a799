"""The word for one node, by the judge of rank/judge.py, and why: for `membw node` and `membw why`.

It is given, in this order: other nodes of its kind; where there are none, the node's own first
runs; and its reference. The worst of what could be compared counts. What others published clears
nobody.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from membw.node.causes import Cause, Seen, find
from membw.node.quantities import BY_METRIC, counted_of, facts_of
from membw.rank.group import MEAN, Group
from membw.rank.judge import NodeVerdict
from membw.rank.ranking import Ranking, rank_table
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings, text_of
from membw.results.record import Record
from membw.results.table import Table
from membw.site.cpu_peak import facts_of as table_of
from membw.words import PASS


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
    """The verdict of `membw rank` on a node's newest measurement, and its causes."""
    ranking = rank_table(table)
    own = [f for f in table.figures if f.node == node]
    verdicts = [v for v in ranking.verdicts if v.node == node]
    every = [one for v in verdicts if (one := _compared(v, ranking))]
    whole = next(n for n in ranking.nodes if n.name == node)
    causes = [cause for one in every for cause in _causes(one, whole.verdict)]
    why = [Finding('cause', {'cause': cause.name, 'text': cause.text}) for cause in causes]
    noticed = max((v.noticed for v in verdicts), default=math.inf)
    runs = [*(f.of for f in own), *(one.of for one in table.lost if one.node == node)]
    records = [of.record for of in runs if of.record]
    # of `membw node`, whose cards have figures of their own
    newest = max(records, key=lambda r: (not r.device, r.seconds), default=None)
    return Word(node, whole.verdict, (*why, *whole.findings), noticed, causes, every, newest)


def _compared(v: NodeVerdict, ranking: Ranking) -> Compared | None:
    """None: with nothing."""
    own = (g for g in ranking.groups if v.node in g.first and g.setting == v.setting)
    group = next(own, None)
    if (v.node, v.setting) in ranking.past:
        _, group = ranking.past[v.node, v.setting]
    if not group or len(group.nodes) == 1:
        return None
    return Compared(v, group, group.now(v.node).figures, seen_of(group, v.node))


def seen_of(group: Group, node: str) -> Seen:
    """What the table of causes is asked with."""
    shares, limits, bounds = {}, {}, set()
    run = group.now(node)
    for column, metric in enumerate(group.metrics):
        loss, quantity = run.losses[column], BY_METRIC.get(metric)
        if quantity and loss == loss:
            f = run.figures[metric]
            shares[quantity.cause] = f.share(group.medians[node][column])
            limits[quantity.cause] = group.fail_limits[column]
            bounds |= {quantity.cause} if f.is_bound else set()
    record = run.of.record
    others = [other.of.record for name, other in group.first.items() if name != node]
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
