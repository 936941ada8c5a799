"""`membw history`: what changed from night to night: a node, or all of them."""

import argparse
import json
import os
from datetime import date, timedelta

from membw import tables
from membw.arguments import FORMS, add_node, add_site_tests, begin, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.printable import plural

EPILOG = """\
STEP: 7 nights compared with the 28 before; TONIGHT: the newest night compared with them; DRIFT:
the newest 28 compared with the first 28 (docs/judging.md). What all nodes did in a night is taken
off, and has its own line ('fleet'). BEGAN: a series ended, and another one began; ENDED: none did.
Each is shown until it is back or acknowledged. INVALID figures and lower bounds are left out; 14
nights are needed.

example: membw history --acknowledge n042 2026-11-21 'DIMM ordered'

exit status: 0 nothing got worse; 1 something did, a series ended, or a record could not be read;
2 usage error or not judged
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results/records)')
    add = parser.add_argument_group('which changes').add_argument
    add(
        '--since',
        metavar='NIGHT',
        help='changes from then on, and what is bad now: 2026-11-21, 14d',
    )
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
    from membw.results.hostlist import chosen_nodes

    paths = args.results or [os.path.join(root(), 'results', 'records')]
    table, nights = read_nights(paths, wanted=wanted_of(args, args.last))  # --since is of changes
    if not nights.nodes:
        table.say()
        raise MembwError(f"nothing to judge in '{' '.join(paths)}'", "'membw run' measures")
    since = _since(args.since, max(nights.nights))
    past = judged(nights)
    file = args.acknowledged or acknowledged.usual()
    if args.acknowledge:
        acknowledged.acknowledge(file, past.events, *args.acknowledge)
    past = acknowledged.apply(past, file, table.problems).since(since)
    if args.node:
        past = past.of_nodes(chosen_nodes(args.node, nights.nodes))
    table.say()
    if args.json:
        data = {
            'schema': 'membw-history-3',
            'nights': sorted(nights.nights),
            'verdict': past.verdict,
            'worse': len(past.red),
            'changes': [c._asdict() for c in past.changes],
            'ended': [
                e._asdict() | {'kind': e.kind, 'level': e.level and e.level._asdict()}
                for e in past.ended
            ],
            'not_judged': [one._asdict() for one in past.young],
            'noticed': [one._asdict() for one in past.noticed],
            'problems': table.problems,
        }
        print(json.dumps(data, indent=1))
    else:
        of = f'{plural(len(nights.nodes), "node")}, {plural(len(nights.nights), "night")}'
        head = f'{of} {min(nights.nights)} .. {max(nights.nights)}'
        print(tables.as_text([head, *past.lines, f'Verdict: {past.verdict}']))
    return past.status or int(bool(table.problems))


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
