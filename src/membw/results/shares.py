"""Long texts of records, a line each: every process reads a share of the lines."""

import marshal
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter

from membw import processes
from membw.results.record import Record, expect, read_lines, told

LEAST = 2 << 20  # characters: of less a process begins no sooner than they are read
# characters of a line: to hand over what shorter ones hold takes as long as to read them
LONG = 2000
# what thousands of records say alike crosses over once
SETTING = 'traits', 'provenance'
OWN = tuple(f.name for f in fields(Record) if f.init and f.name not in SETTING)


def read_text(text, name, first=1):
    """Records and problems of a text, whose first line is number `first` of `name`."""
    expect(len(text))  # what it loads the processes have, too
    is_long = text.count('\n', 0, LEAST) < LEAST / LONG
    number = min(processes.cores(), len(text) // LEAST) if is_long else 1
    if number < 2:
        records, problems = read_lines(text.split('\n'), name, first)
        return records, told(problems, name)
    records, problems = [], []
    for packed, bad in processes.each(
        lambda share: _read_share(text, share, name), _shares(text, number, first), number
    ):
        records += _unpacked(packed)
        problems += bad
    return records, told(problems, name)


def _shares(text, number, first):
    """(begin, end, number of the first line) of each; a share ends with a line."""
    begin = 0
    for i in range(1, number + 1):
        end = text.find('\n', len(text) * i // number - 1) + 1 or len(text)
        if end > begin:
            yield begin, end, first
        first += text.count('\n', begin, end)
        begin = max(begin, end)


def _read_share(text, share, name):
    begin, end, first = share
    records, problems = read_lines(text[begin:end].split('\n'), name, first)
    return _packed(records), problems


def _packed(records):
    """(what is said alike, once each; the rest of each record with the number of that)."""
    numbers, of_own = {}, attrgetter(*OWN)
    rows = [(numbers.setdefault(r.setting, len(numbers)), of_own(r)) for r in records]
    settings = {r.setting: (r.traits, r.provenance) for r in records}
    return [marshal.dumps(settings[key], 2) for key in numbers], rows


def _unpacked(packed):
    said, rows = packed
    settings = [dict(zip(SETTING, _alike(text), strict=True)) for text in said]
    return [Record(**settings[number], **dict(zip(OWN, own, strict=True))) for number, own in rows]


@lru_cache(4096)
def _alike(said):
    """One object for all shares, and for the next texts."""
    return marshal.loads(said)
