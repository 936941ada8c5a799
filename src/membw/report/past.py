"""The history behind the report: series of nights, and the changes that `membw history` finds."""

import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from membw.history import acknowledged
from membw.history.cache import collect
from membw.history.changes import judge
from membw.history.series import as_date, as_day
from membw.history.text import is_worse, merged, notes, percents
from membw.results.read import each_source

RECENT = 14  # nights; older changes stay in the tables, and need no attention
LARGE = 100e6  # bytes of a database that takes a while
DAY_MS = 86_400_000


@dataclass
class Past:
    """`events` are lists of Changes of one cause, as `membw history` prints them, newest first."""

    series: list = field(default_factory=list)
    events: list = field(default_factory=list)
    databases: list = field(default_factory=list)
    invalid: int = 0
    _spreads: dict = field(default_factory=dict)

    def number(self, series):
        return next(i for i, one in enumerate(self.series) if one is series)

    def spread(self, series, k):
        """5 %, median and 95 % of the nodes, night by night; NaN where none has a value."""
        key = self.number(series), k
        if key not in self._spreads:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', RuntimeWarning)  # of nights without a value
                self._spreads[key] = np.nanpercentile(series.figures(k), [5, 50, 95], axis=0)
        return self._spreads[key]

    def recent(self):
        """What made something slower for good in the last nights: lists of Changes.

        What happened to one node, or to all, in one night is one thing, whatever the group.
        """
        if not self.series:
            return []
        since = max(int(series.nights[-1]) for series in self.series) - RECENT
        alike = defaultdict(list)
        for event in self.events:
            if any(map(is_worse, event)) and as_day(event[0].sure) > since:
                alike[event[0].night, who(event), event[0].field] += event
        return list(alike.values())


def read(databases, beside):
    """All nights of the databases, and of the Collector `beside` them."""
    for database in databases:
        if database.stat().st_size > LARGE:
            print(f'membw: reading the nights of {database} ...', file=sys.stderr)
    series, left = collect(each_source(map(str, databases)), collector=beside)
    known = acknowledged.read(acknowledged.own_file())[0]
    return of_series(sorted(series, key=lambda s: s.label), databases, left.invalid, known)


def of_series(series, databases=(), invalid=0, known=()):
    events = merged(acknowledged.apply(judge(series), known)) if series else []
    events.sort(key=lambda event: event[0].night, reverse=True)
    return Past(series, events, [str(d) for d in databases], invalid)


def milliseconds(day):
    """Days since 1970 as Vega takes a time."""
    return int(day) * DAY_MS


def of_group(past, series):
    return [event for event in past.events if event[0].group == series.label]


def usual_software(series, column):
    """What most nodes ran in that night: a number in `provenances`; -1: not known."""
    made = [number for number in series.software[:, column].tolist() if number >= 0]
    return Counter(made).most_common(1)[0][0] if made else -1


def who(event):
    first = event[0]
    return first.node or (f'all {first.nodes} nodes' if first.nodes > 1 else 'the node')


def because(event):
    """What differs in the provenance at the time, and what became of it."""
    fields = (f'{n.replace("_", " ")}: {a} → {b}' for n, (a, b) in event[0].fields.items())
    return '; '.join([*fields, *notes(event)])


def provenance(past):
    """id -> {name: text}: behind each event, and behind the software of each series."""
    texts = {f'change-{i}': _of_event(event) for i, event in enumerate(past.events)}
    for s, series in enumerate(past.series):
        for number, made in enumerate(series.provenances):
            texts[f'past-{s}-{number}'] = _of_software(series, number, made)
    return texts


def _of_event(event):
    first = event[0]
    known = {'display name': f'{percents(event)} {who(event)}, {first.night}'}
    known |= {'group': first.group, 'scope': first.scope, 'shape': first.shape}
    for c in event:
        known[c.kernel] = f'{c.before:.1f} → {c.after:.1f} {c.unit}, {c.percent:+.2f} %'
    known['sure'] = f'{min(change.confidence for change in event):.5f}'
    return known | {'what differs': because(event) or 'nothing that is recorded'}


def _of_software(series, number, made):
    ran = (series.software == number).any(axis=0)
    nights = series.nights[ran]
    known = {'display name': series.label}
    if len(nights):
        known['nights'] = f'{as_date(nights[0])} to {as_date(nights[-1])}, {len(nights)} of them'
    return known | {name.replace('_', ' '): text for name, text in made.items()}
