"""`membw why NODE`: one node by its records, by the same table as `membw node`."""

import argparse
import json
from pathlib import Path

from membw import tables
from membw.checkout import root
from membw.errors import MembwError, did_you_mean
from membw.files import write_whole
from membw.node import store, text
from membw.node.command import word_for
from membw.node.figures import NAMES, Record, of_node, stream_of
from membw.node.judge import FIT, SLOW, Judgement
from membw.printable import printable
from membw.results.hostlist import fold

EPILOG = """\
Records are those of `membw node`, and those of single programs (cluster_stream, a night): the
newest of the node against the newest of each other node of its kind, else against its own before.

examples:
  membw why n117
  membw why n117 results/nights/2026-11-25 /shared/nodes
  membw why - /shared/nodes          # every node, by its word and cause

exit status: 0 FIT; 1 SLOW, NOT JUDGED or DEAD; 2 usage error, or no record of the node
"""
EVERY = '-'


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'why', help='why one node is slow: figures, facts, since when, what next', epilog=EPILOG
    )
    parser.description = 'Says of one node what it reads, what differs, since when, and why.'
    add = parser.add_argument
    add('node', metavar='NODE', help='- for every node')
    add('records', nargs='*', metavar='RECORDS', help='files or folders (results/nodes, /records)')
    add('--system', default='', metavar='SYSTEM[:PARTITION]', help='whose reference counts')
    add('--node-check', metavar='FILE', help='with -: write "<node> FIT|SLOW|... why"')
    tables.add_argument(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    own = [Path(root(), 'results', name) for name in ('nodes', 'records')]
    nodes = store.read(args.records or [path for path in own if path.is_dir()])
    latest = store.newest(nodes)
    if args.node not in latest and not (latest and args.node == EVERY):
        hint = did_you_mean(args.node, latest) if latest else "'membw node' on it writes one"
        raise MembwError(f"no record of node '{args.node}'", hint)
    names = [*latest] if args.node == EVERY else [args.node]
    every = {name: word_for(latest[name], nodes, nodes, args.system) for name in names}
    if args.json:
        rows = [text.as_json(latest[name], judged) for name, judged in every.items()]
        print(json.dumps(rows if args.node == EVERY else rows[0], indent=1))
    elif args.node == EVERY:
        alike: dict[str, list[str]] = {}
        for name, judged in every.items():
            alike.setdefault(judged.text, []).append(name)
        print('\n'.join(printable(f'{fold(alike[word])}: {word}') for word in sorted(alike)))
    else:
        node, judged = latest[args.node], every[args.node]
        more = [] if judged.word == FIT else [after(node)]
        more = [since(nodes, node, judged), *more] if judged.word == SLOW else more
        print(tables.as_text(text.screen(node, judged, more), args.json))
    if args.node_check:
        lines = [text.line(latest[name], judged) for name, judged in sorted(every.items())]
        write_whole(args.node_check, ''.join(f'{line}\n' for line in lines))
    return 0 if all(judged.word == FIT for judged in every.values()) else 1


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
