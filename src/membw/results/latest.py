"""Of records that come one piece at a time, those that say how a node is now."""

import time
from collections import defaultdict

from membw.results.record import STRICT
from membw.results.runs import SPAN_S

AHEAD_S = 86_400  # a clock may be off by a time zone; more, and its records are of the future
WINDOW_S = 2 * SPAN_S  # all ranks of a run are within
FEW = 8  # records of a node that are not looked through


class Latest:
    """Keeps, of each node in one configuration, the newest run and that of another file.

    Records of the future are kept apart: they may not push out what was measured since.
    """

    def __init__(self, now=None):
        self.limit = (time.time() if now is None else now) + AHEAD_S
        self.units = defaultdict(list)
        self.enough = defaultdict(lambda: FEW)

    def add(self, records):
        for record in records:
            traits = tuple(record.traits.get(t) for t in STRICT)
            future = record.time > self.limit
            unit = record.host, record.ranks, traits, record.metrics, future
            kept = self.units[unit]
            kept.append(record)
            if len(kept) > self.enough[unit]:
                self.units[unit] = _newest(kept)
                self.enough[unit] = max(FEW, 2 * len(self.units[unit]))

    def records(self):
        return [record for kept in self.units.values() for record in kept]


def _newest(records):
    """The newest run; where it is in one file, also the newest of the others."""
    recent = _run_before(records, max(r.time for r in records))
    files = {r.file for r in recent}
    others = [r for r in records if r.file not in files] if len(files) == 1 else []
    if others:
        last = max(others, key=lambda r: r.time)
        recent += _run_before([r for r in others if r.file == last.file], last.time)
    return recent


def _run_before(records, end):
    return [r for r in records if end - r.time <= WINDOW_S]
