"""Known changes: shown, but no alarm. A file of JSON lines."""

import getpass
import json
import os
import time
from collections.abc import Sequence

import msgspec

from membw import strict
from membw.checkout import root
from membw.errors import MembwError
from membw.history.changes import SAME_DAYS, days
from membw.history.verdict import Event, Past
from membw.printable import printable


class Entry(msgspec.Struct):
    node: str
    night: str
    reason: str


def usual() -> str:
    return os.path.join(root(), 'results', 'acknowledged.jsonl')


def apply(past: Past, path: str, problems: list[str]) -> Past:
    """The past, with the reason of the entry for the node and night of a change (3 days more or
    less); of several nodes only where each has one. A damaged line goes to `problems`."""
    entries = _read(path, problems) if os.path.exists(path) else []

    def reason(event: Event) -> str:
        near = [e for e in entries if abs(days(event.night) - days(e.night)) <= SAME_DAYS]
        reasons = [next((e.reason for e in near if e.node == n), '') for n in event.nodes]
        return reasons[0] if all(reasons) else ''

    return past._replace(
        changes=[one._replace(acknowledged=reason(one)) for one in past.changes],
        ended=[one._replace(acknowledged=reason(one)) for one in past.ended],
    )


def _read(path: str, problems: list[str]) -> list[Entry]:
    return [*strict.lines(path, _entry, problems)]


def _entry(line: bytes) -> Entry:
    entry = strict.decode(line, Entry)
    try:
        days(entry.night)
    except ValueError as err:
        raise strict.Damaged(f'not an acknowledgement: {err}') from err
    return entry


def acknowledge(path: str, events: Sequence[Event], node: str, night: str, reason: str) -> None:
    """Adds an entry for that node and night; MembwError where there is no such change."""
    nights = sorted({c.night for c in events if node in c.nodes})
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
