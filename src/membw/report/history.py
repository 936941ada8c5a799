"""The section on the past: the headline's metric by night, and what `membw history` found."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from membw import tables
from membw.history.changes import Change, find_changes
from membw.history.text import as_blocks, is_red, line
from membw.plural import plural
from membw.report.lines import MOST, Curve, lines
from membw.report.model import Alarm, Picture, Section
from membw.results.table import Figure, Table, conditions

NODES = MOST - 2  # with a curve of their own; of more those that changed, and the median
DAYS = 60  # of more the axis has months


def section(table: Table, figure: Figure) -> tuple[Section | None, list[Alarm]]:
    """None with fewer than two nights; `figure`: that of the headline.

    The alarms are of changes for the worse that are not back and not acknowledged.
    """
    nights = sorted({f.night for f in table.figures})
    if len(nights) < 2:
        return None, []
    changes = find_changes(table)
    red = [change for change in changes if is_red(change)]
    made = Section('history', f'History: {plural(len(nights), "night")}')
    _, _, verdict = as_blocks(table, changes)[-1].partition(': ')
    made.notes.append(f'{verdict[0].upper()}{verdict[1:]}.')
    same = [
        f
        for f in table.figures
        if f.metric == figure.metric and conditions(f) == conditions(figure)
    ]
    made.pictures.append(_picture(f'{figure.metric.capitalize()} by night', same, red or changes))
    if changes:
        rows = [[line(change)] for change in reversed(changes)]
        columns = (tables.Column('change', 'changes, newest first'),)
        made.tables = [tables.Table('', columns, rows)]
    alarms = [
        Alarm(
            'CHANGE',
            f'{change.kind} {change.size:+.1%} since {change.night}',
            f'{" ".join(change.metrics)} of {change.nodes[0]}',
            'history',
        )
        for change in red
    ]
    return made, alarms


def _picture(title: str, figures: Iterable[Figure], changes: Sequence[Change]) -> Picture:
    """Of many nodes those that changed, and the median of all. Bounds and INVALID figures have no
    mark."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    every: dict[str, list[float]] = defaultdict(list)
    unit = ''
    for f in figures:
        if f.verdict == 'VALID' and not f.is_bound:
            values[f.node][f.night].append(f.value)
            every[f.night].append(f.value)
            unit = f.unit
    since = {node: c.night for c in reversed(changes) for node in c.nodes}  # oldest first
    if len(values) > NODES:
        fell = [node for node in reversed(since) if node in values][:NODES]
        values = {f'median of {len(values)} nodes': every, **{n: values[n] for n in fell}}
    first = min(map(date.fromisoformat, every), default=date.min)
    place = {night: float((date.fromisoformat(night) - first).days) for night in every}
    last = max(place.values(), default=0.0)
    form = '%Y-%m' if last > DAYS else '%Y-%m-%d'
    days = [first + timedelta(day) for day in range(int(last) + 1)]
    months = [float((day - first).days) for day in days if day.day == 1]
    curves = [
        Curve(node, [(place[n], statistics.median(of), None, None) for n, of in by.items()], True)
        for node, by in values.items()
    ]
    changed = [(place[n], f'{node} changed') for node, n in since.items() if n in place][-1:]
    return Picture(
        title,
        lambda width: lines(
            curves,
            'month' if last > DAYS else 'night',
            unit,
            width,
            title,
            name_x=lambda x: format(first + timedelta(round(x)), form),
            from_zero=False,
            declared=changed,
            steps=months if last > DAYS else (),
        ),
        'The figure of each night.'
        + ' Dashed: the first night of the newest change.' * bool(changed),
    )
