"""The section on the past: the headline's metric by night, and what `membw history` found."""

import statistics
from collections import defaultdict
from collections.abc import Iterable

from membw import tables
from membw.history.changes import find_changes
from membw.history.text import is_red, line
from membw.plural import plural
from membw.report.lines import MOST, Curve, lines
from membw.report.model import Alarm, Picture, Section
from membw.results.table import Figure, Table, conditions

NODES = MOST - 2  # with a curve of their own; of more the median is drawn


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
    worse = f'{plural(len(red), "change")} for the worse.'
    made.notes.append(worse if red else 'Nothing got worse.')
    same = [
        f
        for f in table.figures
        if f.metric == figure.metric and conditions(f) == conditions(figure)
    ]
    made.pictures.append(_picture(f'{figure.metric.capitalize()} by night', same, nights))
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


def _picture(title: str, figures: Iterable[Figure], nights: list[str]) -> Picture:
    """Lower bounds and INVALID figures have no mark."""
    place = {night: float(number) for number, night in enumerate(nights)}
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    unit = ''
    for f in figures:
        if f.verdict == 'VALID' and not f.is_bound:
            values[f.node][f.night].append(f.value)
            unit = f.unit
    if len(values) > NODES:
        every: dict[str, list[float]] = defaultdict(list)
        for of_node in values.values():
            for night, of in of_node.items():
                every[night] += of
        values = defaultdict(lambda: defaultdict(list), {f'median of {len(values)} nodes': every})
    curves = [
        Curve(node, [(place[n], statistics.median(of), None, None) for n, of in nights_.items()])
        for node, nights_ in values.items()
    ]
    return Picture(
        title,
        lambda width: lines(
            curves,
            'night',
            unit,
            width,
            title,
            name_x=lambda x: nights[round(x)][5:],
            from_zero=False,
        ),
        'One mark per night.',
    )
