"""`membw why NODE`: what a node reads, what differs, since when, and why."""

import argparse
import json
import shlex
from pathlib import Path

from membw import tables
from membw.arguments import FORMS, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError, did_you_mean
from membw.node import text
from membw.node.word import Compared, Word, low_of, word_of
from membw.rank.judge import AGAIN
from membw.rank.text import command_of
from membw.results.newest import OLD_S
from membw.results.table import Table, read_table
from membw.words import FAIL, GOOD, PASS

EPILOG = """\
Records are those of `membw node`, and those of single programs (cluster_stream, a night). The word
is that of `membw rank`: by other nodes of its kind; of a node that has none by its own first runs.
Older records than 14 days before the newest one count for nothing.

examples:
  membw why n117
  membw why n117 results/nodes /shared/nodes

exit status: 0 PASS, VALID or KNOWN; 1 another word; 2 usage error, or no record of the node
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('node', metavar='NODE')
    add(
        'records',
        nargs='*',
        default=[],
        metavar='RECORDS',
        help=f'{FORMS} (results/nodes and records)',
    )
    add_site_tests(parser)
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    own = [Path(root(), 'results', name) for name in ('nodes', 'records')]
    paths = args.records or [str(path) for path in own if path.is_dir()]
    table = read_table(paths, OLD_S, whole=[args.node], wanted=wanted_of(args, args.since))
    table.say()
    names = {*table.seen} | {f.node for f in table.figures} | {one.node for one in table.lost}
    if args.node not in names:
        hint = did_you_mean(args.node, names) if names else "'membw node' on it writes one"
        raise MembwError(f"no record of node '{args.node}'", hint)
    found = word_of(args.node, table)
    if args.json:
        print(json.dumps(text.as_json(found), indent=1))
    else:
        more = [] if found.word == PASS else [after(found)]
        low = next((one for one in found.compared if one.verdict.metric), None)
        more = [*filter(None, [since(table, low)]), *more] if low and found.word == FAIL else more
        print(tables.as_text(text.screen(found, more)))
    return int(found.word not in GOOD)


def since(table: Table, one: Compared) -> str:
    """Since which of its records the figure is low, without a good one after it; '' where its
    newest is good."""
    metric, node = low_of(one)[0], one.verdict.node
    base = one.group.medians[node][one.group.metrics.index(metric)]
    limit = 1 - one.group.fail_limits[one.group.metrics.index(metric)]
    begin, first = '', ', the first record of it'
    own = [f for f in table.figures if f.node == node and f.metric == metric and not f.is_bound]
    for figure in reversed([f for f in own if f.setting == one.verdict.setting]):
        if figure.share(base) >= limit:
            first = ''
            break
        begin = figure.of.record.time if figure.of.record else begin
    said = f'Since: {begin[:16].replace("T", " ")} UTC{first} ({metric})'
    return said if begin else ''


def after(found: Word) -> str:
    """What measures it again: what measured it."""
    what = 'After the repair' if found.word == FAIL else 'Measure it again'
    first = [one for one in found.compared if one.verdict.verdict != PASS] or found.compared
    setting = first[0].verdict.setting if first else None
    if not setting or not setting.system:
        return f"{what}: 'membw node' on it"
    nodes = shlex.quote(f'nodelist={found.node}')
    command = f'{command_of(setting)} --repeat={AGAIN} -J {nodes}'
    return tables.Command(f'{what}: {command}')
