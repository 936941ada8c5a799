"""Lists of node names: expected nodes in, node-check file and drain commands out, of nodes as
rank/ranking.py has them."""

import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from membw.errors import MembwError
from membw.files import read_text, write_whole
from membw.printable import printable
from membw.results.node_names import match_expected, short, without_domain
from membw.results.record import is_set

MOST = 300_000  # names of a list: no machine has so many nodes


def count_at_most(text: str) -> float:
    """How many names a host list may have, without making them."""
    count = 0.0
    for name in re.findall(r'(?:\[[^]]*\]|[^,])+', text):
        parts = [re.findall(r'(\d+)-(\d+)', part) for part in re.findall(r'\[(.*?)\]', name)]
        count += math.prod(1 + sum(float(b) - float(a) for a, b in part) for part in parts)
    return count


def expected_nodes(text: str) -> list[str]:
    """Names from a file (one or more per line, # begins a comment) or a Slurm host list;
    MembwError where there is none."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    path, hint = Path(text), "give a file of names or a Slurm host list such as 'n[001-128]'"
    if os.path.exists(text) and not os.path.isdir(text):  # False of one too long for a name
        lines = read_text(path).splitlines()
        text = ','.join(','.join(line.split('#')[0].split()) for line in lines)
    elif '/' in text:
        raise MembwError(f"no file '{path}'", hint)
    if not count_at_most(text) <= MOST:
        raise MembwError(f"more than {MOST} nodes in '{path}'", hint)
    try:
        names = list(NodeSet(text.strip(','), resolver=RESOLVER_NOGROUP))
    except (NodeSetException, AssertionError, ValueError) as err:
        raise MembwError(f"no node list in '{path}': {str(err)[:60]}", hint) from err
    if not names:
        raise MembwError(f"no node in the list '{path}'", 'one name per line, or n[001-128]')
    return names


def chosen_nodes(text: str, known: Iterable[str]) -> set[str]:
    """What `--node` names, as the records spell it; MembwError for a name that is not known."""
    known = set(known)
    names = match_expected(known, expected_nodes(text))
    unknown = sorted(set(names) - known)
    if unknown:
        raise MembwError(f"no node '{unknown[0]}' in the results", 'give names as in the records')
    return set(names)


def fold(names: Iterable[str]) -> str:
    """The short form: n[1-3,7]; sets of nodes that measured together stay apart."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    every = list(names)
    alone = NodeSet.fromlist([n for n in every if not is_set(n)], resolver=RESOLVER_NOGROUP)
    return ' '.join(filter(None, [str(alone), *sorted(filter(is_set, every))]))


def read_node_check(path: str | Path) -> list[tuple[str, str, str]]:
    """(node, verdict, line) of each line of a node-check file; [] where there is none.

    A line that is cut has no verdict: it is not PASS.
    """
    try:
        lines = Path(path).read_text(encoding='utf-8', errors='replace').splitlines()
    except OSError:
        return []
    words = [(line.split(maxsplit=2), line) for line in lines if line.strip()]
    return [(w[0], w[1] if len(w) > 1 else '', line) for w, line in words]


def write_node_check(path: str | Path, nodes: Iterable[Any]) -> None:
    """Lines of `<node> PASS|FAIL|DIED|... reason`, by name; the file as a whole: a node that a
    full disk cut off would pass for one that was not measured."""
    ordered = sorted(nodes, key=lambda node: node.name)
    rows = (' '.join(filter(None, (n.name, n.verdict, n.reason))) for n in ordered)
    write_whole(path, ''.join(printable(row) + '\n' for row in rows))


def drain_commands(
    nodes: Sequence[Any], clusters: Mapping[str, str | None] = {}, here: str = ''
) -> list[str]:
    """A `scontrol` line for each node that failed, or on which a launch died; nothing runs them.

    Args:
        clusters: {node: Slurm's cluster in whose job it was measured, which named it; '' is not
            known, then the short name is Slurm's, where only one node has it; None: no Slurm}
        here: the cluster to which scontrol speaks by itself.
    """
    shared, lines = Counter(short(node.name) for node in nodes), []
    for node in (node for node in nodes if node.verdict in ('FAIL', 'DIED')):
        name, cluster = node.name, clusters.get(node.name, '')
        reason = shlex.quote(printable(f'membw: {node.reason}'))
        if cluster is None:
            lines.append(f'# {name} was measured without Slurm: {reason}')
            continue
        is_whole = cluster or shared[short(name)] > 1
        name = shlex.quote(name if is_whole else without_domain(name))
        there = f' -M {shlex.quote(cluster)}' if cluster not in ('', here) else ''
        lines.append(f'scontrol{there} update NodeName={name} State=DRAIN Reason={reason}')
    return lines
