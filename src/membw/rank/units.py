"""Which nodes belong together: a switch or a block of Slurm's topology, or by their names."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from membw.errors import MembwError
from membw.results.hostlist import expected_nodes
from membw.results.node_names import short, without_domain
from membw.site import slurm

# of topology/tree, topology/block and newer ones: a switch, a block, a ring
UNIT = re.compile(r'^\s*([A-Z][a-z]+)Name=(\S+) .*?\bNodes=(\S+)', re.M)


class Unit(NamedTuple):
    """A rack, a chassis, a block, what is below a switch; `how` it is known."""

    name: str
    how: str
    nodes: frozenset[str]


def by_name(nodes: Iterable[str]) -> list[Unit]:
    """r03c2n07 is of r03c2 and of r03; n007 of nothing."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        parts = re.split(r'(\d+)', without_domain(node))
        for end in range(2, len(parts) - 1, 2):
            found[''.join(parts[:end])].add(node)
    return [Unit(name, 'by name', frozenset(of)) for name, of in found.items()]


def units(nodes: Iterable[str], cluster: str = '') -> list[Unit]:
    """By the topology of Slurm's cluster where it has these nodes, else by name."""
    full = {short(node): node for node in nodes}
    try:
        text = slurm.query('scontrol', 'show', 'topology', cluster=cluster)
        parts = [(f'{k.lower()} {n}', expected_nodes(of)) for k, n, of in UNIT.findall(text)]
    except (slurm.NoAnswer, MembwError):
        text, parts = '', []
    if 'Nodes=' in text and not parts:
        fact = "Slurm's topology is not understood"
        print(f'membw: {fact}: racks are taken by name', file=sys.stderr)
    found = [
        Unit(
            name, "by Slurm's topology", frozenset(full[short(n)] for n in of if short(n) in full)
        )
        for name, of in parts
    ]
    return [unit for unit in found if unit.nodes] or by_name(full.values())
