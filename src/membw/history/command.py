"""`membw history`: what changed from night to night: a node, or all of them."""

import argparse
import getpass
import json
import os
import time
from collections.abc import Sequence
from datetime import date, timedelta

from membw import tables
from membw.arguments import FORMS, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.history.changes import (
    LEAST,
    SAME_DAYS,
    Change,
    days,
    find_changes,
    short_sample,
    verdict,
)
from membw.history.nights import read_nights
from membw.printable import plural, printable
from membw.results.hostlist import chosen_nodes

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
        acknowledge(file, changes, *args.acknowledge)
    changes = acknowledged(changes, file, table.problems)
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


# --- known changes: shown, but no alarm. A file of JSON lines


def acknowledged(changes: Sequence[Change], path: str, problems: list[str]) -> list[Change]:
    """The changes, with the reason of the entry for their node and night (3 days more or less);
    of several nodes only where each has one. A damaged line goes to `problems`."""
    entries = _read(path, problems) if os.path.exists(path) else []
    found = []
    for change in changes:
        near = [e for e in entries if abs(days(change.night) - days(e['night'])) <= SAME_DAYS]
        reasons = [next((e['reason'] for e in near if e['node'] == n), '') for n in change.nodes]
        found.append(change._replace(acknowledged=reasons[0] if all(reasons) else ''))
    return found


def _read(path: str, problems: list[str]) -> list[dict]:
    entries = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            entry = json.loads(line)
            days(entry['night'])
            entries.append({key: str(entry[key]) for key in ('node', 'night', 'reason')})
        except (ValueError, TypeError, KeyError, RecursionError) as err:
            problems.append(f'{path}:{number}: not an acknowledgement: {err}')
    return entries


def acknowledge(path: str, changes: Sequence[Change], node: str, night: str, reason: str) -> None:
    """Adds an entry for that node and night; MembwError where there is no such change."""
    nights = sorted({c.night for c in changes if node in c.nodes})
    if night not in nights:
        there = ', '.join(f'{node} {one}' for one in nights[:8]) or 'none of this node'
        raise MembwError(f"no change of '{node}' in the night '{night}'", f'there is {there}')
    by, on = os.environ.get('USER') or getpass.getuser(), time.strftime('%Y-%m-%d')
    entry = {'schema': 'membw-acknowledged-2', 'node': node, 'night': night}
    try:
        with open(path, 'a', encoding='utf-8') as file:
            own = {'reason': printable(reason), 'by': by, 'on': on}
            file.write(json.dumps(entry | own) + '\n')
    except OSError as err:
        raise MembwError(f"cannot write '{path}': {err.strerror}") from err
