"""Lists of node names: expected nodes in, node-check file and drain commands out."""

import re
import shlex
from collections import Counter
from pathlib import Path

from membw.errors import MembwError
from membw.files import read_text, write_whole
from membw.printable import printable

MOST_NODES = 1_000_000  # no machine has more; a list that says so is a slip of the keyboard
# of nodes and of runs
WORST_FIRST = (
    'FAIL', 'SUSPECT', 'INVALID', 'XPASS', 'MISSING', 'NOT MEASURED', 'KNOWN', 'PASS',
)  # fmt: skip


def expected_nodes(text):
    """Names from a file (one or more a line, # begins a comment) or a Slurm host list."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    path = Path(text)
    known = path.exists() and not path.is_dir()
    if '/' in text and not known:
        raise MembwError(f"no file '{path}'", 'a file of names, or a list such as n[001-128]')
    if known:
        lines = read_text(path, 'a file of names, or a list such as n[001-128]').splitlines()
        text = ','.join(','.join(line.split('#')[0].split()) for line in lines)
    _refuse_endless(text, path)
    try:
        names = list(NodeSet(text.strip(','), resolver=RESOLVER_NOGROUP))
    except NodeSetException as err:
        hint = "give a file of names or a Slurm host list such as 'n[001-128]'"
        raise MembwError(f"no node list in '{path}': {err}", hint) from err
    if not names:
        raise MembwError(f"no node in the list '{path}'", 'one name per line, or n[001-128]')
    return names


def _refuse_endless(text, path):
    """ClusterShell would unfold it for minutes."""
    for low, high in re.findall(r'(\d+)-(\d+)', text):
        if len(high) > 18 or int(high) - int(low) >= MOST_NODES:
            raise MembwError(f"'{path}' lists more than {MOST_NODES} nodes: {low}-{high}")


def fold(names):
    """The short form: n[1-3,7]."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))


def match_expected(hosts, expected):
    """Expected names as the records spell them: `n1` stands for `n1.site.org` and back."""
    by_short = {}
    for host in hosts:
        by_short.setdefault(host.split('.')[0], set()).add(host)
    known = set(hosts)
    return [name if name in known else _only(by_short, name) for name in expected]


def _only(by_short, name):
    same = by_short.get(name.split('.')[0], ())
    alike = [host for host in same if '.' not in host or '.' not in name]
    return alike[0] if len(alike) == 1 else name


def worst_verdicts(nodes):
    """name -> (verdict, reason), the worst of a node measured in several ways."""
    worst = {}
    for node in sorted(nodes, key=lambda n: WORST_FIRST.index(n.verdict)):
        worst.setdefault(node.name, (node.verdict, node.reason))
    return worst


def node_check(nodes):
    """Lines of the node-check file: `<node> PASS|FAIL|SUSPECT|INVALID|MISSING reason`, by name."""
    worst = worst_verdicts(nodes)
    return [printable(' '.join(filter(None, [name, *worst[name]]))) for name in sorted(worst)]


def read_node_check(path):
    """(node, verdict, line) of each line of a node-check file; [] where there is none.

    A line that is cut has no verdict: it is not PASS.
    """
    try:
        lines = Path(path).read_text(encoding='utf-8', errors='replace').splitlines()
    except OSError:
        return []
    words = [(line.split(maxsplit=2), line) for line in lines if line.strip()]
    return [(w[0], w[1] if len(w) > 1 else '', line) for w, line in words]


def write_node_check(path, nodes):
    """As a whole: a node that a full disk cut off would pass for one that nobody measured."""
    write_whole(path, '\n'.join(node_check(nodes)) + '\n')


def drain_commands(nodes):
    """`scontrol` lines for the nodes that failed, one for each reason; nothing runs them."""
    by_reason = {}
    worst = worst_verdicts(nodes)
    shared = Counter(name.split('.')[0] for name in worst)
    for name, (verdict, reason) in sorted(worst.items()):
        if verdict == 'FAIL':
            first = printable(reason.split(';')[0])
            short = name.split('.')[0]
            by_reason.setdefault(first, []).append(short if shared[short] == 1 else name)
    return [
        f'scontrol update NodeName={shlex.quote(fold(names))} State=DRAIN '
        f'Reason={shlex.quote(f"membw: {reason}")}'
        for reason, names in by_reason.items()
    ]
