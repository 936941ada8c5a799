"""Known changes: shown, but no alarm. A file of JSON lines."""

import os
import time
from collections.abc import Sequence
from datetime import date
from functools import partial

import msgspec

from membw import strict
from membw.checkout import root
from membw.errors import MembwError
from membw.files import naming
from membw.history.changes import SAME_DAYS, Change, days
from membw.history.verdict import Past
from membw.printable import printable


class Entry(msgspec.Struct):
    node: str
    night: date
    reason: str
    by: str = ''
    on: str = ''
    schema: str = 'membw-acknowledged-2'


def usual() -> str:
    return os.path.join(root(), 'results', 'acknowledged.jsonl')


def apply(past: Past, path: str, problems: list[str]) -> Past:
    """The past, with the reason of the entry for the node and night of a change (3 days more or
    less); of several nodes only where each has one. A damaged line goes to `problems`."""
    read = partial(strict.decode, kind=Entry)
    entries = [*strict.lines(path, read, problems)] if os.path.exists(path) else []

    def reason(change: Change) -> str:
        near = [e for e in entries if abs(days(change.night) - e.night.toordinal()) <= SAME_DAYS]
        reasons = [next((e.reason for e in near if e.node == n), '') for n in change.nodes]
        return reasons[0] if all(reasons) else ''

    return past._replace(changes=[c._replace(acknowledged=reason(c)) for c in past.changes])


def acknowledge(path: str, changes: Sequence[Change], node: str, night: str, reason: str) -> None:
    """Adds an entry for that node and night; MembwError where there is no such change."""
    nights = sorted({c.night for c in changes if node in c.nodes})
    if night not in nights:
        there = ', '.join(f'{node} {one}' for one in nights[:8]) or 'none of this node'
        raise MembwError(f"no change of '{node}' in the night '{night}'", f'there is {there}')
    by, on = os.environ.get('USER', ''), time.strftime('%Y-%m-%d')
    entry = Entry(node, date.fromisoformat(night), printable(reason), by, on)
    with naming(path), open(path, 'ab') as file:
        file.write(msgspec.json.encode(entry) + b'\n')
