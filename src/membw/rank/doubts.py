"""What the figures of a fleet alone cannot decide: such nodes are SUSPECT, and never PASS."""

import numpy as np

from membw.rank import support
from membw.rank.nodes import SUSPECT
from membw.results.provenance import FIELDS
from membw.results.record import STRICT
from membw.statistics import doubtful_nodes
from membw.statistics.populations import MIN_NODES, MIN_SHARE

# Kit and firmware: a part of the fleet that differs in these is meant to differ. A difference in
# a setting (governor, THP, kernel) is named as a cause to look at, but excuses nothing.
MEANT = ('memory_gib', 'dimms', 'numa_nodes', 'microcode', 'bios')
ALIKE = 0.9  # of a part's nodes have what most of the others have not
FEW = 12  # nodes that do not show the spread of their like


def of_populations(groups, margin):
    """Of parts of like nodes, fastest first: the slower ones that no fact explains."""
    fastest = groups[0]
    warnings = []
    for group in groups[1:]:
        ratio = float(np.mean(np.median(group.totals(), 0) / np.median(fastest.totals(), 0)))
        if ratio >= 1 - margin:
            continue
        fields = _differing(group.nodes, fastest.nodes)
        meant = [f for f in fields if f in MEANT]
        differs = _differences(fields, group.nodes, fastest.nodes)
        part = f'{len(group.nodes)} of {sum(len(g.nodes) for g in groups)} nodes'
        if meant:
            warnings.append(f'{part} at {ratio - 1:+.1%}, explained by {differs}')
            continue
        cause = f'differs in {differs}' if fields else 'no recorded fact differs'
        fast = np.median(fastest.totals(), 0)
        for node in group.nodes:
            _suspect(node, f'in the slower part of its peers ({part}, {ratio - 1:+.1%}): {cause}',
                     fast)  # fmt: skip
    return warnings


def _differing(slow, fast):
    """The fields whose values in one part are not those of the other."""
    return [f for f in FIELDS + ('bios',) if f != 'threads_on' and _apart(f, slow, fast)]


def _apart(field, slow, fast):
    here, there = ([n.facts.get(field) for n in part] for part in (slow, fast))
    if None in here or None in there:
        return False
    usual_there = {v for v in set(there) if there.count(v) > (1 - ALIKE) * len(there)}
    usual_here = {v for v in set(here) if here.count(v) > (1 - ALIKE) * len(here)}
    return bool(usual_here and usual_there) and not usual_here & usual_there


def _differences(fields, slow, fast):
    return ', '.join(f'{f} {slow[0].facts[f]}, not {fast[0].facts[f]}' for f in fields)


def of_few(group, margin):
    """Two halves of a few nodes: which of them is right, nobody can tell."""
    totals, count = group.totals(), len(group.nodes)
    if any(n.verdict != 'PASS' for n in group.nodes):
        return
    parts = doubtful_nodes.slower_half(totals, margin)
    if parts is None:
        return
    slow, loss = len(parts[0]), doubtful_nodes.loss(totals, parts)
    here, there = parts if count > 2 else (np.r_[parts],) * 2
    for i in here:
        text = f'{slow} of {count} nodes {loss:+.1%} to the others: cannot tell which'
        _suspect(group.nodes[i], f'{text} are right', np.median(totals[there], 0))


def of_fast(group, ratio, alpha):
    """Nodes that are too fast to be true."""
    for i in np.flatnonzero(doubtful_nodes.too_fast(ratio, alpha)):
        node = group.nodes[i]
        faster = ratio[i].mean() - 1
        if node.verdict == 'PASS' and not support.may_be_below(
            node, group, doubtful_nodes.TOO_FAST
        ):
            _suspect(node, f'implausibly fast: {faster:+.1%} to the median of its peers')


def of_slow(group, ratio):
    """Nodes so far below their peers that not being sure, or a wide interval, is no excuse."""
    for i in np.flatnonzero(doubtful_nodes.too_slow(ratio)):
        node, slower = group.nodes[i], ratio[i].mean() - 1
        if node.verdict == 'PASS':
            _suspect(node, f'implausibly slow: {slower:+.1%} to the median of its peers')


def of_low(node, peers):
    """A node that is low by the usual noise and not, cautiously judged, by any."""
    few = f'of {peers} nodes the noise is hardly known'
    tail = 'healthy nodes of a fleet with such a tail may lie there'
    ask = f'{support.AGAIN}, ask `membw history`'
    _suspect(node, f'{few if peers < FEW else tail}: {ask}')


def of_groups(groups):
    """Nodes that were not compared, and a few that only resemble each other."""
    at_home = {}
    for group in groups:
        for node in group.nodes if len(group.nodes) > 1 else ():
            at_home[node.name] = max(node.time, at_home.get(node.name, 0))
    for group in groups:
        larger = _largest_beside(group, groups)
        if len(group.nodes) == 1:
            node = group.nodes[0]
            text = 'not compared: no other node like it' + _beside(group, larger)
            if at_home.get(node.name, -1) >= node.time:
                node.notes.append(text)  # it was, in what most were measured with
            else:
                _suspect(node, text)
        elif larger and _ratio(group, larger) < 0.98:
            for node in group.nodes:
                if node.verdict == 'PASS':
                    _suspect(node, 'not compared with most' + _beside(group, larger))


def _largest_beside(group, groups):
    """The largest group of the same CPU that has other nodes, if this one is small to it."""
    names, cpu = {n.name for n in group.nodes}, group.nodes[0].traits.get('cpu_model')
    beside = [
        g
        for g in groups
        if g.nodes[0].traits.get('cpu_model') == cpu
        and len(group.nodes) < max(MIN_NODES, MIN_SHARE * len(g.nodes))
        and len(g.nodes) > max(1, len(group.nodes))
        and set(g.kernels) & set(group.kernels)
        and not names & {n.name for n in g.nodes}
        and _traits_apart(group, g)
    ]
    return max(beside, key=lambda g: len(g.nodes), default=None)


def _traits_apart(group, other):
    mine, theirs = group.nodes[0], other.nodes[0]
    names = [t for t in (*STRICT, 'ranks') if mine.traits.get(t) != theirs.traits.get(t)]
    return names + (['kernels'] if mine.kernels != theirs.kernels else [])


def _ratio(group, other):
    same = [k for k in group.kernels if k in other.kernels]
    medians = [
        np.median(g.totals()[:, [g.kernels.index(k) for k in same]], axis=0)
        for g in (group, other)
    ]
    return float(np.mean(medians[0] / medians[1]))


def _beside(group, larger):
    if larger is None:
        return ''
    names = _traits_apart(group, larger)
    mine, theirs = group.nodes[0].traits, larger.nodes[0].traits
    parts = [
        f'{n} {mine.get(n, "unknown")}, not {theirs.get(n, "unknown")}' if n != 'kernels'
        else f'kernels {" ".join(group.kernels)}, not {" ".join(larger.kernels)}'
        for n in names
    ]  # fmt: skip
    return f' ({"; ".join(parts)}; {_ratio(group, larger) - 1:+.1%} to group {larger.number})'


def _suspect(node, text, peers=None):
    """`peers`: the rates that the node misses; its own interval may take that back."""
    if peers is not None and support.may_reach(node, peers):
        node.notes.insert(0, support.note(node))
        return
    if node.verdict == 'PASS':
        node.verdict = SUSPECT
    node.notes.insert(0, text)
