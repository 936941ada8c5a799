"""`membw history`: what changed from night to night: a node, or all of them."""

import argparse
import json
import os

from membw import tables
from membw.arguments import FORMS, MEASURE, add_node, add_site_tests, begin, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.moments import night_of
from membw.printable import plural

EPILOG = """\
STEP: 7 nights compared with the 28 before; TONIGHT: the newest night compared with them; DRIFT:
the newest 28 compared with the first 28 (docs/judging.md). What all nodes did in a night is taken
off, and has its own line ('fleet'). BEGAN: a series ended, and another one began; ENDED: none did;
NEW: it has fewer than 14 nights. Each is shown until it is back or acknowledged. INVALID figures
and lower bounds are left out.

example: membw history --acknowledge n042 2026-11-21 'DIMM ordered'

exit status: 0 nothing got worse; 1 something did, a series ended, or a record could not be read;
2 usage error or not judged
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results/records)')
    add = parser.add_argument_group('which changes').add_argument
    about = 'changes from then on, and what is bad now: 2026-11-21, 14d'
    add('--since', type=begin, default=0.0, metavar='DAY', help=about)
    about = 'reads the nights from then on (all): 120d; changes before them are not known'
    add('--last', type=begin, default=0.0, metavar='DAY', help=about)
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
    from membw.history.nights import read_nights
    from membw.history.verdict import judged
    from membw.results.findings import Finding, for_json
    from membw.results.hostlist import chosen_nodes

    paths = args.results or [os.path.join(root(), 'results', 'records')]
    table, nights = read_nights(paths, wanted=wanted_of(args, args.last))  # --since is of changes
    if not nights.nodes:
        table.say()
        raise MembwError(f"nothing to judge in '{' '.join(paths)}'", MEASURE)
    past = judged(nights)
    file = args.acknowledged or acknowledged.usual()
    if args.acknowledge:
        acknowledged.acknowledge(file, past.changes, *args.acknowledge)
    past = acknowledged.apply(past, file, table.problems).since(night_of(args.since))
    if args.node:
        past = past.of_nodes(chosen_nodes(args.node, nights.nodes))
    table.say()
    if args.json:
        data = {
            'schema': 'membw-history-4',
            'nights': sorted(nights.nights),
            'verdict': past.verdict.text,
            'findings': for_json([past.verdict]),
            'changes': for_json(Finding(one.kind, one._asdict()) for one in past.changes),
            'noticed': [one._asdict() for one in past.noticed],
            'problems': table.problems,
        }
        print(json.dumps(data, indent=1))
    else:
        of = f'{plural(len(nights.nodes), "node")}, {plural(len(nights.nights), "night")}'
        head = f'{of} {min(nights.nights)} .. {max(nights.nights)}'
        print(
            tables.as_text(
                [head, *(one.line for one in past.changes), f'Verdict: {past.verdict.text}']
            )
        )
    return past.status or int(bool(table.problems))
