"""`membw history`: what changed from night to night: a node, or all of them."""

import argparse
import json
import os
from datetime import date, timedelta

from membw import tables
from membw.arguments import FORMS, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.printable import plural

EPILOG = """\
STEP: the last 7 nights beside the 28 before; DRIFT: 28 beside the first 28 (docs/judging.md).
What all nodes did in a night is taken off, and has its own line ('fleet'). Changed firmware,
microcode, kernel, modules, board or code begins a new sample. INVALID figures and lower bounds are
left out; at least 14 nights are needed.

example: membw history --acknowledge n042 2026-11-21 'DIMM ordered'

exit status: 0 no lasting change for the worse; 1 such a change, or a record could not be read;
2 usage error or not judged
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results/records)')
    add = parser.add_argument_group('which changes').add_argument
    add('--since', metavar='NIGHT', help='changes from then on: 2026-11-21, or 14d: the last 14')
    add_node(add, 'changes')
    add = parser.add_argument_group('known changes').add_argument
    about = 'the change of NODE (or "fleet") in NIGHT is known: it is shown, but is no alarm'
    add('--acknowledge', nargs=3, metavar=('NODE', 'NIGHT', 'REASON'), help=about)
    add('--acknowledged', metavar='FILE', help='known changes (results/acknowledged.jsonl)')
    add_site_tests(parser, '--since')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    from membw.history import acknowledged
    from membw.history.changes import LEAST, find_changes, short_sample, verdict
    from membw.history.nights import read_nights
    from membw.results.hostlist import chosen_nodes

    paths = args.results or [os.path.join(root(), 'results', 'records')]
    table, nights = read_nights(paths, wanted=wanted_of(args, 0.0))  # --since is of changes
    if not nights.nodes:
        table.say()
        raise MembwError(f"nothing to judge in '{' '.join(paths)}'", "'membw run' measures")
    since = _since(args.since, max(nights.nights))
    nodes = chosen_nodes(args.node, nights.nodes) if args.node else set()
    changes = find_changes(nights)
    file = args.acknowledged or os.path.join(root(), 'results', 'acknowledged.jsonl')
    if args.acknowledge:
        acknowledged.acknowledge(file, changes, *args.acknowledge)
    changes = acknowledged.apply(changes, file, table.problems)
    changes = [c for c in changes if c.found >= since]
    table.say()
    changes = [c for c in changes if not nodes or nodes & {*c.nodes}]
    said, short = verdict(nights, changes), short_sample(nights)
    if args.json:
        data = {
            'schema': 'membw-history-2',
            'nights': sorted(nights.nights),
            'judged': nights.most >= LEAST,
            'samples': nights.samples,
            'worse': sum(c.is_red for c in changes),
            'changes': [c._asdict() for c in changes],
            'problems': table.problems,
        }
        print(json.dumps(data, indent=1))
    else:
        of = f'{plural(len(nights.nodes), "node")}, {plural(len(nights.nights), "night")}'
        head = f'{of} {min(nights.nights)} .. {max(nights.nights)}'
        lines = [head, *(c.line for c in changes), *short, f'Verdict: {said}']
        print(tables.as_text(lines))
    if nights.most < LEAST:
        return 2
    return 1 if table.problems or any(c.is_red for c in changes) else 0


def _since(text: str | None, newest: str) -> str:
    """The night that '2026-11-21' or '14d' names; '' of None."""
    if not text:
        return ''
    try:
        if not text.endswith('d'):
            return date.fromisoformat(text).isoformat()
        return (date.fromisoformat(newest) - timedelta(int(text[:-1]) - 1)).isoformat()
    except (ValueError, OverflowError) as err:
        raise MembwError(f"'{text}' is not a night", 'as in 2026-11-21 or 14d') from err
