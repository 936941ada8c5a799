"""Which node is this? What a scheduler, a host, a record, a log's file and a person call one node.

A name is compared without its domain and in lower case; an address has no domain. A boot of a
machine has one number (`boot_id`), whatever its name is: so two names of one machine, and two
machines of one name, are known.
"""

import contextlib
import ipaddress
import itertools
import re
from collections.abc import Iterable
from functools import lru_cache

from membw.grouped import grouped
from membw.printable import at_most
from membw.results.figure import Measurement
from membw.results.findings import Finding


@lru_cache(100_000)
def without_domain(name: str) -> str:
    """'N1' of N1.site.org; 10.0.0.7 is whole."""
    if name[:1].isdigit() or ':' in name:
        with contextlib.suppress(ValueError):
            return str(ipaddress.ip_address(name))
    return name.partition('.')[0]


def short(name: str) -> str:
    """By which names are compared: 'n1' of N1.site.org."""
    return without_domain(name).lower()


def alike(one: str, other: str) -> bool:
    """Whether they may be one node: `n1` is `N1.site.org`, n1.a is not n1.b."""
    is_whole = one.lower() == other.lower()
    return is_whole or short(one) == short(other) and ('.' not in one or '.' not in other)


def match_expected(hosts: Iterable[str], expected: Iterable[str]) -> list[str]:
    """Expected names as the records spell them."""
    known, names = set(hosts), []
    by_short = grouped((short(host), host) for host in known)
    for name in expected:
        same = [host for host in by_short.get(short(name), []) if alike(host, name)]
        names.append(same[0] if name not in known and len(same) == 1 else name)
    return names


def doubtful(
    runs: Iterable[Measurement], newest: Iterable[Measurement] = ()
) -> dict[str, Finding]:
    """{node: why}: the name is of two machines, or its machine has two names; in the `newest` runs
    no node is in two clusters."""
    ordered = sorted(runs, key=lambda run: run.time)
    boots = [(run.node, run.record.facts.boot_id) for run in ordered if run.record]
    of_node = grouped((node, boot) for node, boot in boots if boot)
    found: dict[str, Finding] = {}
    clusters = grouped((run.node, run.record.cluster) for run in newest if run.record)
    for node, names in clusters.items():
        there = sorted({*filter(None, names)})
        if there[1:]:
            pair = {'fact': 'cluster', 'one': there[0], 'other': there[1]}
            found[node] = Finding('two-machines', pair)
    for node, of in of_node.items():
        changed = [boot for boot, _ in itertools.groupby(of)]
        if len(changed) > len({*changed}):  # a machine that was replaced does not come back
            pair = {'fact': 'boot_id', 'one': changed[0], 'other': changed[1]}
            found[node] = Finding('two-machines', pair)
    same = grouped((boot, node) for node, boot in boots if boot).values()
    spelt = grouped((short(node), node) for node in {node for node, _ in boots}).values()
    alikes = [{a for a in of if any(a != b and alike(a, b) for b in of)} for of in spelt]
    for group in [*map(set, same), *alikes]:
        for node in group if len(group) > 1 else ():
            other = at_most(sorted(group - {node}), 3)
            found.setdefault(node, Finding('two-names', {'names': other}))
    return found


def of_card(node: str, number: str) -> str:
    """A card where nodes are compared: 'n001-card3.site.org'."""
    host = without_domain(node)
    return f'{host}-card{number}{node[len(host) :]}'


def without_card(name: str) -> str:
    return re.sub(r'-card\d+(?=\.|$)', '', name)
