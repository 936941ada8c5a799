"""The section on history: each series of nights, with the changes that were found in it."""

import altair as alt
import numpy as np

from membw.history.series import as_date, as_day
from membw.history.text import merged
from membw.report import charts, past, pictures
from membw.report.model import NONE, Cell, Section, Table, number

PICTURES = 8  # series; those with changes first, the table has all
NODES = 5  # changed nodes in one picture, the most changed ones
EVENTS = 500  # rows of the table
BAND = 5  # nodes, from which on a band of their spread says more than a line
FLEET = (
    'How to read: a line per kernel, a mark per night (the median of the nodes; the band holds '
    '90 % of them). Dotted: a change that is sure, with what changed in the provenance then.'
)
CHANGED = (
    'How to read: one line per node that changed, against the median of its group that night '
    '(0 %); the large triangle is where it changed, downwards for slower.'
)
LEAD = (
    'Nights of the results database; what was INVALID does not enter, and the axes do not begin '
    'at zero. Changes are those of `membw history`: larger than the margin, sure, and lasting.'
)


def section(nights):
    """Pictures, the table of changes and the table of all series."""
    made = Section('history', 'History', LEAD)
    if not nights.series:
        made.empty = 'No night is on record: ReFrame writes results/results.db, run by run.'
        return made
    long = [series for series in nights.series if len(series.nights) > 1]
    if not long:
        night = as_date(nights.series[0].nights[-1])
        made.empty = f'One night is on record, {night}: a second one begins a history.'
        return made
    long.sort(key=lambda series: -len(past.of_group(nights, series)))
    changed = sum(bool(past.of_group(nights, series)) for series in long)
    for i, series in enumerate(long[:PICTURES]):
        drawn = made.pictures if i < max(changed, 1) else made.folded
        drawn += _pictures(nights, series)
    if len(long) > PICTURES:
        made.notes.append(f'{len(long) - PICTURES} series have no picture; the table has them.')
    made.tables = (
        [_events(nights), _all_series(nights)] if nights.events else [_all_series(nights)]
    )
    if not nights.events:
        made.notes.append('No change was found.')
    return made


def save(every, changes, file, kernel=None):
    """The series with the most changes as a picture file; `kernel`: this one alone."""
    judged = past.Past(every, merged(changes))
    chosen = sorted(every, key=lambda s: (-len(past.of_group(judged, s)), -len(s.nodes)))
    chosen = [series for series in chosen if not kernel or kernel in series.kernels][:PICTURES]
    pictures.save([p for series in chosen for p in _pictures(judged, series, kernel)], file)


def _pictures(nights, series, kernel=None):
    events = past.of_group(nights, series)
    alone = len(series.nodes) == 1
    whole = [event for event in events if event[0].node is None or alone]
    yield _of_group(nights, series, whole, [kernel] if kernel else series.kernels)
    nodes = [event for event in events if event[0].node is not None and not alone]
    if nodes:
        yield _of_nodes(nights, series, nodes)


# the whole group


def _of_group(nights, series, events, kernels):
    kernels = kernels[: charts.MOST]  # the table has all
    points = [p for k in kernels for p in _points(nights, series, series.kernels.index(k))]
    marks = [
        {'t': past.milliseconds(as_day(event[0].night)), 'label': _short(event)}
        for event in events
    ]  # fmt: skip
    said = f'{series.label}: {len(series.nights)} nights, {len(events)} changes'
    name, title = f'history-{nights.number(series) + 1}', f'{series.label}, {_nodes(series)}'
    layers = _layers(series, kernels, points, marks)
    return charts.picture(name, title, FLEET, layers, 280, said, _table(nights, series))


def _short(event):
    return ' '.join([past.percents(event), (event[0].field or '').replace('_', ' ')]).strip()


def _nodes(series):
    return f'{len(series.nodes)} nodes' if len(series.nodes) > 1 else series.nodes[0]


def _points(nights, series, k):
    """One a night that has a value: median, and 5 and 95 % where there are nodes enough."""
    low, median, high = nights.spread(series, k)
    counts = (~np.isnan(series.rates[k])).sum(axis=0)
    for i in np.flatnonzero(counts):
        made = past.usual_software(series, i)
        point = {
            't': past.milliseconds(series.nights[i]), 'k': series.kernels[k],
            'g': round(float(median[i]), 2), 'c': int(counts[i]),
            'provenance': f'past-{nights.number(series)}-{made}',
        }  # fmt: skip
        if len(series.nodes) >= BAND:
            point |= {'low': round(float(low[i]), 2), 'high': round(float(high[i]), 2)}
        yield point


def _time():
    axis = alt.Axis(grid=False, format='%d %b', labelOverlap=True)
    return alt.X('t:T', title=None, axis=axis, scale=alt.Scale(type='utc'))


def _tips(**fields):
    night = alt.Tooltip('t:T', title='night', format='%Y-%m-%d', timeUnit='utcyearmonthdate')
    return [*charts.tips(**fields), night]


def _layers(series, kernels, points, marks):
    base = alt.Chart(charts.data(points)).encode(
        x=_time(),
        y=alt.Y('g:Q', title=units(series), scale=alt.Scale(zero=False, padding=16)),
        color=charts.color('k', kernels, 'kernel'),
    )
    tip = _tips(kernel='k:N', nodes='c:Q', **{units(series): 'g:Q'})
    layers = charts.lines(base, charts.shape('k', kernels, 'kernel'), tip, 34, 1.5)
    if any('low' in point for point in points):
        layers.insert(0, base.mark_area(opacity=0.2).encode(y='low:Q', y2='high:Q'))
    return [*layers, *_changes(marks)]


def _changes(marks):
    if not marks:
        return []
    base = alt.Chart(charts.data(marks)).encode(x=_time())
    rule = base.mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color='@fail')
    text = base.mark_text(align='right', dx=-5, baseline='top', fontSize=11, color='@fail')
    return [rule, text.encode(y=alt.value(2), text='label:N')]


def _table(nights, series):
    lines = []
    for k, kernel in enumerate(series.kernels):
        medians = nights.spread(series, k)[1]
        known = medians[~np.isnan(medians)]
        figures = [float(np.median(known)), known.min(), known.max(), known[-1]]
        lines.append([Cell(kernel), number(len(known)), *(number(gbs, '.1f') for gbs in figures)])
    titles = ['kernel', 'nights', 'median', 'lowest', 'highest', 'latest']
    return Table(titles, lines, f'{series.label}: medians of the nights, {units(series)}')


def units(series):
    """'GB/s', or 'GB/s or ns' where the metrics differ."""
    return ' or '.join(dict.fromkeys(metric.unit for metric in series.metrics))


# nodes that changed


def _of_nodes(nights, series, events):
    """The most changed nodes, by the kernel in which they changed most."""
    by_node = {}
    for change in (change for event in events for change in event):
        if change.node not in by_node or abs(change.percent) > abs(by_node[change.node].percent):
            by_node[change.node] = change
    worst = sorted(by_node.values(), key=lambda change: -abs(change.percent))[:NODES]
    points = [point for change in worst for point in _node_points(nights, series, change)]
    names = [change.node for change in worst]
    left = len(by_node) - len(worst)
    title = f'{len(by_node)} nodes of {series.label} that changed'
    title += f', the {len(worst)} that changed most' if left else ''
    name, said = f'history-{nights.number(series) + 1}-nodes', f'{title}: {", ".join(names)}'
    return charts.picture(name, title, CHANGED, _node_layers(points, names), 280, said)


def _node_points(nights, series, change):
    k, node = series.kernels.index(change.kernel), series.nodes.index(change.node)
    percent = 100 * (series.figures(k)[node] / nights.spread(series, k)[1] - 1)
    for i in np.flatnonzero(~np.isnan(percent)):
        yield {
            't': past.milliseconds(series.nights[i]), 'n': change.node, 'k': change.kernel,
            'p': round(float(percent[i]), 2), 'at': series.night(i) == change.night,
            'down': change.direction == 'slower',
        }  # fmt: skip


def _node_layers(points, names):
    base = alt.Chart(charts.data(points)).encode(
        x=_time(),
        y=alt.Y('p:Q', title='to the median of the night, %', scale=alt.Scale(zero=True)),
        color=charts.color('n', names, 'node'),
    )
    tip = _tips(node='n:N', kernel='k:N', **{'%': 'p:Q'})
    at = base.transform_filter('datum.at')
    marks = [
        at.transform_filter(f'datum.down == {str(down).lower()}').mark_point(
            shape=shape, size=230, filled=False, strokeWidth=2.5, opacity=1
        )
        for down, shape in ((True, 'triangle-down'), (False, 'triangle-up'))
        if any(point['at'] and point['down'] == down for point in points)
    ]
    return [*charts.lines(base, charts.shape('n', names, 'node'), tip, 26, 1.2), *marks]


# tables


def _events(nights):
    titles = ['night', 'change', 'who', 'scope', 'kernels', 'group',
              'what differs in the provenance']  # fmt: skip
    lines = [_event(i, event) for i, event in enumerate(nights.events[:EVENTS])]
    more = len(nights.events) - len(lines)
    also = f'; {more} older ones: membw history --limit 0' if more else ''
    return Table(titles, lines, f'Changes, the newest first{also}')


def _event(i, event):
    first = event[0]
    kernels = ' '.join(change.kernel for change in event)
    percent = Cell(past.percents(event), min(change.percent for change in event), f'change-{i}')
    words = [Cell(text) for text in (past.who(event), first.scope, kernels, first.group)]
    return [Cell(first.night), percent, *words, Cell(past.because(event))]


def _all_series(nights):
    titles = ['group', 'nodes', 'nights', 'latest night', 'kernel', 'latest',
              'to the nights before']  # fmt: skip
    lines = [_series_line(nights, series) for series in nights.series]
    return Table(titles, lines, 'All series: median of the nodes')


def _series_line(nights, series):
    metric = series.metrics[-1]
    medians = nights.spread(series, len(series.metrics) - 1)[1]
    known = medians[~np.isnan(medians)]
    made = past.usual_software(series, len(series.nights) - 1)
    counts = [number(len(series.nodes)), number(len(series.nights))]
    latest = number(known[-1], '.1f', f'past-{nights.number(series)}-{made}')
    change = NONE
    if len(known) > 1:
        percent = 100 * float(known[-1] / np.median(known[:-1]) - 1)
        change = Cell(f'{percent:+.1f} %', percent)
    night = Cell(as_date(series.nights[-1]))
    return [Cell(series.label), *counts, night, Cell(metric.title), latest, change]
