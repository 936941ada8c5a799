"""From nodes to groups of like nodes: only these are compared with each other."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from membw.plural import plural
from membw.rank import doubts
from membw.results.metrics import node_rates
from membw.results.record import MEMORY, STRICT
from membw.statistics.margin import MARGIN
from membw.statistics.populations import MIN_NODES, MIN_SHARE, find_populations


@dataclass
class Group:
    """Nodes alike, compared with each other."""

    number: int
    label: str
    metrics: tuple
    nodes: list

    @property
    def kernels(self):
        return tuple(metric.name for metric in self.metrics)

    def totals(self):
        """Rates, nodes x metrics."""
        return node_rates(np.array([node.rates for node in self.nodes]), self.metrics)

    def medians(self):
        """Figures of the usual node, by metric."""
        rates = np.median(self.totals(), axis=0).tolist()
        return {m.name: m.figure(rate) for m, rate in zip(self.metrics, rates, strict=True)}


def form_groups(nodes, margin=MARGIN, populations=False):
    """Groups of like nodes, split where two populations show, and warnings about them.

    `populations`: somebody says that they are meant.
    """
    families = defaultdict(lambda: defaultdict(list))
    for node in nodes:
        strict = (*(node.traits.get(t) for t in STRICT), node.traits['ranks'], node.metrics)
        families[strict][tuple(node.traits.get(t) for t in MEMORY)].append(node)
    groups, warnings = [], []
    for kinds in families.values():
        for members in _adopt(list(kinds.values())):
            parts = _split(members)
            groups += parts
            if len(parts) > 1:
                warnings.append(_populations_text(parts))
                warnings += [] if populations else doubts.of_populations(parts, margin)
    for number, group in enumerate(groups, 1):
        group.number = number
        for node in group.nodes:
            node.group = number
    return groups, warnings


def _adopt(kinds):
    """Nodes too few for a group of their own join the largest; a note says what differs.

    Otherwise a node that lost a DIMM, and says so, would be alone and never compared.
    """
    kinds.sort(key=len, reverse=True)
    largest, own = list(kinds[0]), []
    for kind in kinds[1:]:
        if len(kind) >= max(MIN_NODES, MIN_SHARE * len(kinds[0])):
            own.append(kind)
            continue
        for node in kind:
            node.notes.append(_difference(node.traits, kinds[0][0].traits))
        largest += kind
    return [largest, *own]


def _difference(mine, theirs):
    parts = (
        f'{t} {mine.get(t, "unknown")}, not {theirs.get(t, "unknown")}'
        for t in MEMORY
        if mine.get(t) != theirs.get(t)
    )
    return 'unlike the others: ' + ', '.join(parts)


def _split(members):
    totals = np.array([node.totals for node in members])
    relative = np.exp(np.log(totals / np.median(totals, axis=0)).mean(axis=1))
    labels = find_populations(relative)
    parts = [[members[i] for i in np.flatnonzero(labels == k)] for k in range(labels.max() + 1)]
    fastest = np.median(relative[labels == 0])
    for i in np.flatnonzero(labels):
        members[i].notes.append(
            f'in population {labels[i] + 1} of {len(parts)}, '
            f'{relative[i] / fastest - 1:+.1%} to the fastest'
        )
    return [Group(0, _label(nodes), nodes[0].metrics, nodes) for nodes in parts]


def _label(nodes):
    traits = Counter(tuple(node.traits.items()) for node in nodes).most_common(1)[0][0]
    t = dict(traits)
    count = plural(len(nodes), 'node')
    threads = plural(t.get('threads', 1), 'thread')
    ranks = f'{plural(t["ranks"], "rank")} x {threads} each'
    cpu = str(t.get('cpu_model', 'CPU not named'))
    build = ' '.join(str(t[k]) for k in ('environ', 'parameters', 'compiler', 'flags') if k in t)
    arrays = f'arrays of {t["array_size"]} elements' if 'array_size' in t else ''
    pinning = f'pinning {t["pinning"]}' if 'pinning' in t else ''
    parts = [count, cpu, ranks, arrays, build, pinning]
    return ', '.join(filter(None, parts))


def _populations_text(groups):
    shown = groups[0].metrics[-1]
    parts = ', '.join(
        f'{plural(len(g.nodes), "node")} at {g.medians()[shown.name]:.1f} {shown.unit}'
        for g in groups
    )
    return (
        f'{len(groups)} populations among like nodes ({shown.name}: {parts}); '
        'each node is judged among its own'
    )
