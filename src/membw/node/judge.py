"""The word for a node: FIT, SLOW, NOT JUDGED or DEAD, with causes and their evidence."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from membw.node.baseline import OF_FEW, Base, Known
from membw.node.causes import Cause, Row, Seen, find
from membw.node.figures import METRICS, NAMES, Quantity, Record, pages_elsewhere

MAIN = ('rate', 'one', 'latency', 'loaded', 'arithmetic')  # a cache may not be seen
FIT, SLOW, NOT_JUDGED, DEAD = 'FIT', 'SLOW', 'NOT JUDGED', 'DEAD'


class Judgement(NamedTuple):
    word: str
    why: str  # '' of FIT against a reference, peers or earlier runs, by nothing disturbed
    causes: list[Cause]
    seen: Seen
    quantities: Mapping[str, Quantity]
    bases: Mapping[str, Base]

    def said(self) -> dict[str, Any]:
        """For the node's record."""
        causes = [cause._asdict() for cause in self.causes]
        return {'word': self.word, 'why': self.why, 'causes': causes}

    @property
    def text(self) -> str:
        return f'{self.word} ({self.why})' if self.why else self.word


def judge(
    known: Known, bases: Mapping[str, Base], usual: Mapping[str, Any], table: list[Row]
) -> Judgement:
    """Pure: of a node's record, of what it is compared with, and of the table of causes."""
    node, quantities, facts = known.record, known.quantities, known.facts
    counted = counted_of(node)
    confining = [row for row in table if row.get('disturbs') == 'all']
    if find(Seen({}, {}, facts, usual, counted), confining):
        quantities = {n: q._replace(is_bound=True) for n, q in quantities.items()}
    shares = {n: q.share(bases[n].value) for n, q in quantities.items() if n in bases}
    limits = {name: bases[name].limit for name in shares}
    for name in limits:  # of all but Triad the interval joins the limit
        if name != 'rate':
            limits[name] = max(limits[name], 1 - 1 / (1 + quantities[name].half))
    firm = {n: s for n, s in shares.items() if not quantities[n].is_bound and not bases[n].is_weak}
    seen = Seen(firm, limits, facts, usual, counted)
    low = [name for name, share in shares.items() if share < 1 - limits[name]]
    sure = {n for n in low if n in firm and (n != 'rate' or reaches_not(n, seen, quantities))}
    word, why = word_of(node, quantities, bases, low, sure)
    if word != SLOW:  # bounds and few records condemn none, and yet show what a fact explains
        bounds = {name for name in shares if quantities[name].is_bound}
        seen = seen._replace(shares=shares, bounds=bounds)
    # what is not cleared, within a tenth, may have the cause that a fact confirms
    near = {name: min(limit, OF_FEW) for name, limit in limits.items()}
    looked_at = seen._replace(limits=near) if word == NOT_JUDGED else seen
    causes = [c for c in find(looked_at, table) if c.disturbs or is_named(c, word)]
    if word == SLOW:
        named = [c.text for c in causes if not c.disturbs and sure & {*c.explains}]
        lows = ', '.join(f'{NAMES[n]} {shares[n]:.3f} of the reference' for n in low if n in sure)
        why = '; '.join(named) or f'cause not known: {lows}'
    elif word in (NOT_JUDGED, FIT) and causes:
        why = ': '.join(filter(None, ['; '.join(c.text for c in causes), why]))
    return Judgement(word, why, causes, seen, quantities, bases)


def is_named(cause: Cause, word: str) -> bool:
    return word == SLOW or word == NOT_JUDGED and cause.is_confirmed


def reaches_not(name: str, seen: Seen, quantities: Mapping[str, Quantity]) -> bool:
    """Whether the whole interval is low."""
    return seen.shares[name] * (1 + quantities[name].half) < 1 - seen.limits[name]


def word_of(
    node: Record,
    quantities: Mapping[str, Quantity],
    bases: Mapping[str, Base],
    low: list[str],
    sure: set[str],
) -> tuple[str, str]:
    """(word, why, without causes)."""
    if dead := [f'{part["name"]}: {part["why"]}' for part in node['parts'] if part['died']]:
        return DEAD, '; '.join(dead)
    if 'rate' not in quantities:
        return NOT_JUDGED, lacking(node) or 'Triad was not measured'
    if 'rate' not in bases:
        return NOT_JUDGED, 'nothing to compare with: no reference, peer or earlier run'
    if sure:
        return SLOW, ''
    if low:
        name, end = low[0], ''
        if bases[name].is_weak and not quantities[name].is_bound:
            end = f' by {bases[name].source}: compare it with its peers'
        elif not quantities[name].is_bound:
            end = ', which its interval reaches: measure again'
        figure = f'{NAMES[name]} {quantities[name].text()}, {bases[name].value:.4g} wanted'
        return NOT_JUDGED, figure + end
    if why := lacking(node) or without_its_figure(node, quantities):
        return NOT_JUDGED, why
    rate, base = quantities['rate'], bases['rate']
    if base.varies and rate.share(base.value) < 1 - OF_FEW:
        end = '' if rate.is_bound else f': {base.source} differ as much'
        return NOT_JUDGED, f'Triad {rate.text()}, {base.value:.4g} wanted{end}'
    return FIT, f'only compared with {bases["rate"].source}' * bases['rate'].is_weak


def lacking(node: Record) -> str:
    """What is missing: '' where every part was measured, and is VALID."""
    every = []
    for part in node['parts']:
        record = part.get('record') or {}
        if part['why']:
            every.append(f'{part["name"]}: {part["why"]}')
        elif record.get('verdict', 'VALID') != 'VALID':
            found = [r for r in record.get('reasons') or () if not r.get('allowed')]
            reasons = ' '.join(reason['reason'] for reason in found)
            every.append(f'{part["name"]}: {record["verdict"]} {reasons}')
    return '; '.join(every)


def without_its_figure(node: Record, quantities: Mapping[str, Quantity]) -> str:
    """Parts without the figure that they are run for, though their programs are VALID."""
    names = [part['name'] for part in node['parts']]
    main = {METRICS[quantity][1]: quantity for quantity in MAIN}
    missing = [name for name in names if name in main and main[name] not in quantities]
    return '; '.join(f'{name}: no {NAMES[main[name]]}' for name in missing)


def counted_of(node: Record) -> dict[str, float]:
    """What was counted meanwhile; of the shares of the CPUs the largest of any part."""
    counted = dict(node.get('counted', {}))
    traces = [part['trace'] for part in node['parts'] if part.get('trace')]
    for name in ('other_share', 'steal_share', 'interrupt_share'):
        counted |= {name: max(trace[name] for trace in traces)} if traces else {}
    records = [part['record'] for part in node['parts'] if part.get('record')]
    elsewhere = max(map(pages_elsewhere, records), default=0)
    stopped = sum(part.get('stopped', 0) for part in node['parts'])
    return counted | {'pages_elsewhere': elsewhere, 'stopped': stopped}
