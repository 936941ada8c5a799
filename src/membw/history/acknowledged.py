"""Changes that somebody knows of and lives with: shown, and no alarm, until it gets worse still.

A file of JSON lines, one for each kernel of an event. A line holds for the change of that node,
group and kernel that begins at that night, as long as the node is no lower than it was when it was
acknowledged; a further fall, another change, and the same one after a recovery are told as ever.
"""

import dataclasses
import getpass
import json
import os
import time
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text, refuse_special
from membw.history.series import as_day
from membw.history.text import FAR, is_worse
from membw.printable import printable
from membw.statistics.margin import MARGIN

SCHEMA = 'membw-acknowledged-1'
FLEET = 'fleet'  # in place of a node
SAME_STEP = 3  # days that the date of a step may move when more nights are known
OFTENER = 1.5  # times as many bad nights: it got worse


def own_file():
    """Of this checkout; None where there is none."""
    try:
        return os.path.join(root(), 'results', 'acknowledged.jsonl')
    except MembwError:
        return None


def read(path):
    """(entries, problems) of the file; none where there is no file."""
    entries, problems = [], []
    if not path or not os.path.exists(path):
        return entries, problems
    for number, line in enumerate(_lines(path), 1):
        try:
            entry = json.loads(line)
            if entry.get('schema') != SCHEMA:
                raise ValueError(f"'schema' is not {SCHEMA}")
            as_day(entry['night'])
            entry['reason'] = str(entry['reason'])
            entries.append({**entry, 'after': float(entry['after']),
                            'percent': float(entry['percent'])})  # fmt: skip
        except (ValueError, TypeError, AttributeError, RecursionError, KeyError) as err:
            problems.append(f'{path}:{number}: no acknowledgement: {err}')
    return entries, problems


def _lines(path):
    try:
        text = read_text(path, "'--acknowledged FILE' names a file")
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}") from err
    return [line for line in text.split('\n') if line.strip()]


def apply(changes, entries, margin=MARGIN):
    """The changes, with `acknowledged` of those that an entry holds for."""
    return [dataclasses.replace(c, acknowledged=_reason(c, entries, margin)) for c in changes]


def _reason(change, entries, margin):
    of_it = [e for e in entries if _is_of(change, e)]
    for entry in of_it:
        if _is_same(change, entry) and not _is_further(change, entry, of_it, margin):
            return f'{entry["reason"]} ({entry.get("by", "unknown")}, {entry.get("on", "")})'
    return ''


def _is_of(change, entry):
    return (change.node or FLEET, change.group, change.kernel) == tuple(
        entry.get(name) for name in ('node', 'group', 'kernel')
    )


def _is_same(change, entry):
    names = ('scope', 'shape', 'direction')
    moved = abs(as_day(change.night) - as_day(entry['night']))
    return all(getattr(change, name) == entry.get(name) for name in names) and moved <= (
        SAME_STEP if change.shape == 'step' else FAR
    )


def _is_further(change, entry, of_it, margin):
    """Lower by more than the margin than it was when somebody knew of it, or oftener.

    `of_it`: what else is known of that node's kernel: it may be as low as the lowest of these.
    """
    down = entry['percent'] < 0
    lowest = (min if down else max)(e['after'] for e in of_it)
    pairs = [(change.after, entry['after']), (change.now, lowest)]
    beyond = [v < bound * (1 - margin) if down else v > bound * (1 + margin) for v, bound in pairs]
    deeper = abs(change.percent) - abs(entry['percent']) > 100 * margin
    oftener = change.share and change.share[1] > OFTENER * (entry.get('share') or [0, 1])[1]
    return any(beyond) or deeper or bool(oftener)


def acknowledge(path, changes, node, night, reason):
    """Adds the changes for the worse of that node and night; how many kernels that are."""
    day = _day(night)
    if not path:
        raise MembwError('no file to keep it in', "'--acknowledged FILE' names one")
    refuse_special(path, "'--acknowledged FILE' names a file")
    if not reason.strip():
        raise MembwError('no reason given', "as in --acknowledge n042 2026-11-21 'DIMM ordered'")
    known = [c for c in changes if is_worse(c)]
    chosen = [c for c in known if (c.node or FLEET) == node and as_day(c.night) == day]
    if not chosen:
        _refuse_again(path, [c for c in changes if c.acknowledged], node, day)
        there = sorted({f'{c.node or FLEET} {c.night}' for c in known})
        hint = f'there is {", ".join(there[:8])}' if there else 'nothing got worse'
        raise MembwError(f"'{node}' did not get worse in the night {night}", hint)
    try:
        with open(path, 'a', encoding='utf-8') as file:
            if _is_torn(path):
                file.write('\n')
            file.writelines(json.dumps(_entry(c, reason)) + '\n' for c in chosen)
    except OSError as err:
        raise MembwError(f"cannot write '{path}': {err.strerror}") from err
    return len(chosen)


def _refuse_again(path, known, node, day):
    for c in known:
        if (c.node or FLEET) == node and as_day(c.night) == day:
            raise MembwError(f"'{node}' {c.night} is acknowledged already: {c.acknowledged}",
                             f"delete its lines in '{path}' to say something else")  # fmt: skip


def _is_torn(path):
    """A full disk cut the last line: what is written behind it would be lost with it."""
    return Path(path).read_bytes()[-1:] not in (b'', b'\n')


def _day(night):
    try:
        return as_day(night)
    except ValueError as err:
        raise MembwError(f"'{night}' is no night", 'as in 2026-11-21') from err


def _entry(change, reason):
    names = ('scope', 'group', 'kernel', 'night', 'shape', 'direction', 'percent', 'after',
             'share', 'unit')  # fmt: skip
    known = {name: getattr(change, name) for name in names}
    who = {'by': _user(), 'on': time.strftime('%Y-%m-%d')}
    lowest = min(change.after, change.now) if change.percent < 0 else max(change.after, change.now)
    known['after'] = change.after if change.shape in ('intermittent', 'scatter') else lowest
    return {'schema': SCHEMA, 'node': change.node or FLEET, **known,
            'reason': printable(reason.strip()), **who}  # fmt: skip


def _user():
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a name for its user
        return f'user {os.getuid()}'
