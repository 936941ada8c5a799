"""Which node is this? What a scheduler, a host, a record, a log's file and a person call one node.

A name is compared without its domain and in lower case; an address has no domain. A boot of a
machine has one number (`boot_id`), whatever its name is: so two names of one machine, and two
machines of one name, are known.
"""

import contextlib
import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from membw.grouped import grouped
from membw.printable import at_most
from membw.results.figure import Measurement
from membw.results.findings import Finding
from membw.results.record import Record


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


def doubtful(runs: Iterable[Measurement]) -> dict[str, Finding]:
    """{node: why}: the name is of two machines, or its machine has two names."""
    found: dict[str, Finding] = {}
    by_node = grouped((run.node, run) for run in sorted(runs, key=lambda run: run.time))
    for node, of in by_node.items():
        if pair := _goes_back([run.record for run in of if run.record]):
            found[node] = Finding('two-machines', pair)
    names: dict[str, set[str]] = {}
    for node, of in by_node.items():
        for boot in {run.record.facts.boot_id for run in of if run.record} - {None, ''}:
            names.setdefault(str(boot), set()).add(node)
    same = [*names.values(), *_spelt_twice(by_node)]
    for group in same:
        for node in group if len(group) > 1 else ():
            other = at_most(sorted(group - {node}), 3)
            found.setdefault(node, Finding('two-names', {'names': other}))
    return found


def _spelt_twice(nodes: Iterable[str]) -> list[set[str]]:
    groups = grouped((short(node), node) for node in nodes).values()
    return [{a for a in of if any(a != b and alike(a, b) for b in of)} for of in groups]


def _goes_back(records: list[Record]) -> dict[str, str]:
    """The fact that has two values in turn: a machine that was replaced does not come back. Of
    records without a boot the CPU's name and the board stand for it."""
    every = [one.facts for one in records]
    of_boots = [facts.boot_id for facts in every]
    names = ('boot_id',) if all(of_boots) else ('cpu_model', 'board_name')
    for name in names:
        values = [value for facts in every if (value := getattr(facts, name))]
        changed = [v for i, v in enumerate(values) if i == 0 or v != values[i - 1]]
        if len(changed) > len({*changed}):
            return {'fact': name, 'one': changed[0], 'other': changed[1]}
    return {}


def of_card(node: str, number: str) -> str:
    """A card where nodes are compared: 'n001-card3.site.org'."""
    host = without_domain(node)
    return f'{host}-card{number}{node[len(host) :]}'


def without_card(name: str) -> str:
    return re.sub(r'-card\d+(?=\.|$)', '', name)
