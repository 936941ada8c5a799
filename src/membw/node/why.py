"""`membw why NODE`: what a node reads, what differs, since when, and why."""

import argparse
import json
from pathlib import Path

from membw import tables
from membw.checkout import root
from membw.errors import MembwError, did_you_mean
from membw.node import store, text
from membw.node.command import word_for
from membw.node.figures import NAMES, Record, of_node, stream_of
from membw.node.judge import FIT, SLOW, Judgement

EPILOG = """\
Records are those of `membw node`, and those of single programs (cluster_stream, a night): the
newest of the node against the newest of each other node of its kind, else against its own before.

examples:
  membw why n117
  membw why n117 results/nights/2026-11-25 /shared/nodes

exit status: 0 FIT; 1 SLOW, NOT JUDGED or DEAD; 2 usage error, or no record of the node
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('node', metavar='NODE')
    add('records', nargs='*', metavar='RECORDS', help='files or folders (results/nodes, /records)')
    add('--system', default='', metavar='SYSTEM[:PARTITION]', help='whose reference counts')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    own = [Path(root(), 'results', name) for name in ('nodes', 'records')]
    nodes = store.read(args.records or [path for path in own if path.is_dir()])
    latest = store.newest(nodes)
    if args.node not in latest:
        hint = did_you_mean(args.node, latest) if latest else "'membw node' on it writes one"
        raise MembwError(f"no record of node '{args.node}'", hint)
    node = latest[args.node]
    judged = word_for(node, nodes, nodes, args.system)
    if args.json:
        print(json.dumps(text.as_json(node, judged), indent=1))
    else:
        more = [] if judged.word == FIT else [after(node)]
        more = [since(nodes, node, judged), *more] if judged.word == SLOW else more
        print(tables.as_text(text.screen(node, judged, more)))
    return 0 if judged.word == FIT else 1


def since(nodes: list[Record], node: Record, judged: Judgement) -> str:
    """Since which of its records the lowest figure is low, without a good one after it."""
    name = min(judged.seen.low, key=lambda name: judged.seen.shares[name])
    base, begin, first = judged.bases[name], node['time'], ', the first record of it'
    for earlier in reversed([n for n in nodes if n['host'] == node['host']]):
        quantity = of_node(earlier).get(name)
        if quantity and not quantity.is_bound:
            if quantity.share(base.value) >= 1 - judged.seen.limits[name]:
                first = ''
                break
            begin = earlier['time']
    return f'Since: {begin[:16].replace("T", " ")} UTC{first} ({NAMES[name]})'


def after(node: Record) -> str:
    """What measures it again: what measured it."""
    case = stream_of(node).get('case') or {}
    if not case.get('system'):
        return "Measure it again: 'membw node' on it"
    words = f'--system {case["system"]} -n {case["test"]} -p {case.get("environ", "")}'
    return f'Measure it again: membw run {words} -J nodelist={node["host"]}'
