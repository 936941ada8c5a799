"""The past: the headline's metric by night, and what `membw history` found."""

from collections.abc import Container, Sequence
from datetime import date, timedelta

import numpy as np

from membw import tables
from membw.history import acknowledged
from membw.history.changes import Change
from membw.history.nights import Nights, Series
from membw.history.verdict import judged
from membw.printable import plural
from membw.report.charts import MOST, Axes, Curve, picture
from membw.report.model import Alarm, Page, Section
from membw.report.svg import Picture
from membw.results.figure import Figure

NODES = MOST - 2  # with a curve of their own; of more those that changed, and the median
DASHED = ' Dashed: the first night of the newest change.'
DAYS = 60  # of more the axis has months


def show(page: Page, past: Nights, figure: Figure, nodes: Container[str] = ()) -> list[Alarm]:
    """`figure`: that of the headline; `nodes`: their changes only. A history without a picture is
    a line of the head.

    The alarms are of changes for the worse that are not back and not acknowledged.
    """
    if len(past.nights) < 2:
        return []
    found = acknowledged.apply(judged(past), acknowledged.usual(), [])  # `history` names damage
    found = found.of_nodes(nodes) if nodes else found
    made = Section('history', f'History: {plural(len(past.nights), "night")}')
    said = found.verdict.text
    if series := past.of_figure(figure):
        made.pictures = _picture(series, found.red or found.changes)
    if found.changes and found.verdict.code != 'young':
        columns = (tables.Column('change', 'changes, newest first'),)
        made.tables = [tables.Table('', columns, [[c.line] for c in reversed(found.changes)])]
    if made.pictures or made.tables:
        made.notes.append(f'{said[0].upper()}{said[1:]}.')
        page.sections.append(made)
    else:
        page.standing.append(f'{made.title}: {said}.')
    alarms = []
    for one in found.red:
        what = f'{one.kind} {one.size:+.1%} since {one.night}'
        why = f'{" ".join(one.metrics)} of {one.nodes[0]}'
        alarms.append(Alarm('CHANGE', what, why, 'history'))
    return alarms


def _picture(series: Series, changes: Sequence[Change]) -> list[Picture]:
    """Of many nodes those that changed, and the median of all. Bounds and INVALID figures have no
    mark."""
    since = {node: c.night for c in reversed(changes) for node in c.nodes}  # oldest first
    rows = dict(zip(series.nodes, series.values, strict=True))
    if len(rows) > NODES:
        fell = [node for node in reversed(since) if node in rows][:NODES]
        every = f'median of {len(rows)} nodes'
        rows = {every: np.nanmedian(series.values, axis=0), **{n: rows[n] for n in fell}}
    first = date.fromisoformat(series.nights[0])
    place = {night: float((date.fromisoformat(night) - first).days) for night in series.nights}
    last = place[series.nights[-1]]
    axis, form, months = 'night', '%Y-%m-%d', []
    if last > DAYS:
        days = ((n, first + timedelta(n)) for n in range(int(last) + 1))
        axis, form, months = 'month', '%Y-%m', [float(n) for n, day in days if day.day == 1]
    curves = []
    for name, row in rows.items():
        points = [(x, y, None, None) for x, y in zip(place.values(), row, strict=True) if y == y]
        curves.append(Curve(name, points))
    changed = [(place[n], f'{node} changed') for node, n in since.items() if n in place]
    mark = changed[-1] if changed else None
    title = f'{series.figure.metric.capitalize()} by night'
    how = 'The figure of each night.' + DASHED * bool(mark)
    axes = Axes(
        axis, series.figure.unit, from_zero=False, mark=mark, steps=months,
        name_x=lambda x: format(first + timedelta(round(x)), form),
    )  # fmt: skip
    return picture(title, curves, axes, how)
