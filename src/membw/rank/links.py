"""Which links between nodes are slow, apart from what their nodes are: of `pingpong --nodes`."""

from dataclasses import dataclass, field, replace

import numpy as np

from membw.results.hostlist import fold
from membw.results.runs import SPAN_S
from membw.statistics import tails
from membw.statistics.links import LEAST_NODES, small_groups, split, switches

UNITS = ('B', 'KiB', 'MiB', 'GiB')


@dataclass
class Link:
    """Two nodes; figures: us one way, by bytes; expected: by what both nodes do elsewhere."""

    nodes: tuple
    verdict: str = 'PASS'
    reason: str = ''
    figures: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    q: float = 1.0

    @property
    def name(self):
        return ' - '.join(self.nodes)


@dataclass
class Links:
    """Of the newest job; `warnings` are about all of them."""

    links: list = field(default_factory=list)
    effects: dict = field(default_factory=dict)  # bytes -> {node: us to a usual other one}
    warnings: list = field(default_factory=list)

    def __bool__(self):
        return bool(self.links)

    @property
    def slow(self):
        return [link for link in self.links if link.verdict == 'FAIL']

    def counts(self):
        """'15 links: 14 PASS, 1 FAIL, 0 INVALID'."""
        verdicts = [link.verdict for link in self.links]
        each = ', '.join(f'{verdicts.count(w)} {w}' for w in ('PASS', 'FAIL', 'INVALID'))
        return f'{len(verdicts)} links: {each}'


def judge(records, margin, alpha):
    """(the records, in which a node's rates are its own effect, Links)."""
    newest = max((r.time for r in records if r.links), default=0)
    last = [r for r in records if r.links and newest - r.time <= SPAN_S]
    links = Links(_read(last))
    if not links:
        return records, links
    hosts = sorted({host for link in links.links for host in link.nodes})
    sizes = sorted({size for link in links.links for size in link.figures})
    tables = {size: _matrix(links.links, hosts, size) for size in sizes}
    of_node, distance = switches(tables[sizes[0]])
    say = _of_switches
    if not distance.any() and len(hosts) >= LEAST_NODES:
        of_node, distance = _small_groups(tables)
        say = _of_groups
    residuals = {}
    for size in sizes:
        effects, levels, residuals[size] = split(tables[size], distance)
        usual = np.nanmedian(effects)
        links.effects[size] = dict(zip(hosts, np.exp(-effects - usual).tolist(), strict=True))
        if distance.any():
            links.warnings.append(say(hosts, of_node, size, levels))
    _judge_links(links, hosts, residuals, margin, alpha)
    own = {id(record): _with_effects(record, links.effects) for record in last}
    return [own.get(id(record), record) for record in records], links


def _read(records):
    """Each link once: both of its nodes wrote it down."""
    links = {}
    for record in records:
        for other, reason, times in record.links:
            nodes = tuple(sorted((record.host, other)))
            link = links.setdefault(nodes, Link(nodes, figures=dict(times)))
            if reason:
                link.verdict, link.reason = 'INVALID', reason
    return [links[nodes] for nodes in sorted(links)]


def _matrix(links, hosts, size):
    """Logarithms of rates, 1 / us; those that may not be believed are left out."""
    at = {host: i for i, host in enumerate(hosts)}
    logs = np.full((len(hosts), len(hosts)), np.nan)
    for link in links:
        if link.verdict != 'INVALID' and size in link.figures:
            i, j = (at[host] for host in link.nodes)
            logs[i, j] = logs[j, i] = -np.log(link.figures[size])
    return logs


def _with_effects(record, effects):
    """`latency` is the time of the smallest size, `bandwidth` that of the largest."""
    small, large = min(effects), max(effects)
    rates = dict(record.rates)
    for name, size in (('latency', small), ('bandwidth', large)):
        us = effects[size].get(record.host)
        if name in rates and us and np.isfinite(us):
            rates[name] = 1 / us if name == 'latency' else size / us / 1000
    return replace(record, rates=rates)


def _judge_links(links, hosts, residuals, margin, alpha):
    if len(hosts) < LEAST_NODES:
        links.warnings.append(
            f'{len(hosts)} nodes: a link is told apart from its nodes from {LEAST_NODES} on'
        )
        return
    at = {host: i for i, host in enumerate(hosts)}
    places = [tuple(at[host] for host in link.nodes) for link in links.links]
    ratios = np.exp([[residuals[size][place] for size in residuals] for place in places])
    known = np.flatnonzero(~np.isnan(ratios).any(axis=1))
    if len(known) < len(links.links):
        links.warnings.append(
            f'{len(links.links) - len(known)} of {len(links.links)} links are not compared: they, '
            'or too many others of their nodes, have no time that may be believed'
        )
    if len(known) > 1:
        _compare([links.links[i] for i in known], list(residuals), ratios[known], margin, alpha)


def _small_groups(tables):
    """Of the first size that shows any: a bad link may cost latency or bandwidth."""
    for logs in tables.values():
        of_node, distance = small_groups(logs)
        if distance.any():
            break
    return of_node, distance


def _of_groups(hosts, of_node, size, levels):
    groups = [
        f'{fold([h for h, of in zip(hosts, of_node, strict=True) if of == k])} '
        f'({in_words(size)} take {np.exp(-levels[k * (k - 1) // 2 + 1]) - 1:+.1%})'
        for k in range(1, of_node.max() + 1)
    ]
    return (
        f'slow with all others, not with each other: {"; ".join(groups)}: behind a link or a '
        'switch of their own, which is held against no node'
    )


def _of_switches(hosts, of_node, size, levels):
    behind = [
        [host for host, number in zip(hosts, of_node, strict=True) if number == k]
        for k in range(of_node.max() + 1)
    ]
    parts = [fold(names) for names in behind if names]
    longer = ', '.join(f'{np.exp(-level) - 1:+.1%}' for level in levels[1:] if np.isfinite(level))
    return (
        f'{len(parts)} switches by the times of their links: {"; ".join(parts)}; between them '
        f'{in_words(size)} take {longer}, which is held against no node and no link'
    )


def _compare(links, sizes, ratios, margin, alpha):
    """`ratios` of rates to what the nodes let expect: links x sizes."""
    ratios = ratios / np.median(ratios, axis=0)
    q = np.array([
        tails.judge_low(ratios[:, k], np.delete(ratios, k, axis=1), margin, len(sizes))[0]
        for k in range(len(sizes))
    ]).T  # fmt: skip
    for row, link in enumerate(links):
        link.expected = {s: link.figures[s] * ratios[row, k] for k, s in enumerate(sizes)}
        link.q = float(q[row].min())
        if link.q <= alpha:
            link.verdict = 'FAIL'
            link.reason = _how_far(link, sizes[int(q[row].argmin())])


def _how_far(link, size):
    us, expected = link.figures[size], link.expected[size]
    return (
        f'{in_words(size)} take {us:.4g} us, and {expected:.4g} are expected of its nodes, '
        f'{us / expected - 1:+.1%}, q={link.q:.1g}'
    )


def in_words(size):
    """'4 MiB'."""
    unit = 0
    while size >= 1024 and size % 1024 == 0 and unit < len(UNITS) - 1:
        size, unit = size // 1024, unit + 1
    return f'{size} {UNITS[unit]}'
