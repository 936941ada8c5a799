"""The section on OpenMP: how a computation scales, and what each construct costs."""

import re

import altair as alt

from membw.report import charts
from membw.report.model import Cell, Section, Table
from membw.report.model import number as cell

SCALING, OVERHEADS = ('nbody', 'nbody_offload'), 'overheads'
SPEED_UP = re.compile(r'^speedup_(\d+)$')
OVERHEAD = re.compile(r'^(for_dynamic_8|[a-z_]+?)(?:_(\d+))?_t(\d+)$')
EDGE_PX = 12  # beside the first and last mark, so that none lies on an axis
BY_BYTES = ('private', 'firstprivate', 'copyprivate', 'copyin')
BY_THREADS = ('parallel', 'for', 'barrier', 'single', 'critical', 'reduction')
READ_SCALING = (
    'How to read: speed-up over one thread of the same run, with its 95 % interval; the dashed '
    'line is ideal. Further below it with more threads: a part of the work is not shared, or the '
    'clock falls as more cores work.'
)
READ_THREADS = (
    'How to read: what a construct adds to its work, both axes logarithmic, with the 95 % '
    'interval of the median. A straight line up is a cost per thread, a flat one costs the same '
    'for all.'
)
READ_BYTES = (
    'How to read: what a region costs that copies an array for each thread, both axes '
    'logarithmic, with 95 % intervals. Flat: the region itself; the slope to the right: the copy.'
)


def section(rows):
    """Pictures of each run of `nbody` and `overheads`, a table of each; None: no such run."""
    scaling = [row for row in rows if row.test in SCALING]
    overheads = [row for row in rows if row.test == OVERHEADS]
    if not scaling and not overheads:
        return None
    made = Section('openmp', 'OpenMP: scaling and overheads')
    made.pictures += _each(scaling, _scaling_picture)
    made.pictures += _each(overheads, _threads_picture) + _each(overheads, _bytes_picture)
    for row in [*scaling, *overheads]:
        if not row.figures:
            made.notes.append(f'{row.where} {row.preset} {row.test}: {row.verdict}: {row.why}')
    return made


def _each(rows, draw):
    """The pictures that there is something for; names tell the runs of a preset apart."""
    drawn = [draw(row, number) for number, row in enumerate(rows, 1)]
    return [picture for picture in drawn if picture]


def speed_ups(row):
    """[{threads, value, low, high}] of a run, the baseline first."""
    points = [_ends({'threads': 1}, None, 1.0)]
    for name, figure in row.figures.items():
        metric = SPEED_UP.match(name)
        if metric:
            points.append(_ends({'threads': int(metric[1])}, figure.interval, figure.value))
    return sorted(points, key=lambda point: point['threads']) if len(points) > 1 else []


def overheads(row):
    """[{construct, bytes, threads, value, low, high}] of a run, in us; 0 bytes: no array."""
    points = []
    for name, figure in row.figures.items():
        metric = OVERHEAD.match(name)
        if metric:
            what = {
                'construct': metric[1],
                'bytes': int(metric[2] or 0),
                'threads': int(metric[3]),
            }
            points.append(_ends(what, figure.interval, figure.value))
    return points


def _ends(what, interval, value):
    low, high = interval or (value, value)
    return {**what, 'value': value, 'low': low, 'high': high}


def _picture(kind, row, number, title, how, layers, table):
    return charts.picture(f'{kind}-{row.where}-{row.preset}-{number}', title, how, layers, 300,
                          table=table)  # fmt: skip


def _scaling_picture(row, number):
    points = speed_ups(row)
    if not points:
        return None
    most = max(point['threads'] for point in points)
    axis = alt.Axis(values=[point['threads'] for point in points], labelOverlap='greedy')
    scale = alt.Scale(domain=[1, most], nice=False, padding=EDGE_PX)
    x = alt.X('threads:Q', title='threads', axis=axis, scale=scale)
    base = alt.Chart(charts.data(points)).encode(
        x=x, y=alt.Y('value:Q', title='speed-up', scale=alt.Scale(zero=True))
    )
    tip = charts.tips(threads='threads:Q', speed_up='value:Q', from_='low:Q', to='high:Q')
    ideal = alt.Chart(charts.data([{'threads': n, 'value': n} for n in (1, most)]))
    line = ideal.mark_line(color='@muted', strokeDash=[5, 4]).encode(x=x, y='value:Q')
    spread = base.mark_rule(color='@fore', strokeWidth=2).encode(y='low:Q', y2='high:Q')
    title = f'Speed-up of all pairs on {_where(row)}'
    lines = [
        [cell(p['threads']), *_figures(p, row), cell(p['value'] / p['threads'], '.1%')]
        for p in points
    ]
    table = Table(['threads', 'speed-up', 'low', 'high', 'efficiency'], lines, title)
    layers = [line, spread, *charts.lines(base, alt.value('circle'), tip)]
    return _picture(row.test, row, number, title, READ_SCALING, layers, table)


def _figures(point, row):
    """Cells of a figure and its interval."""
    ends = [cell(point[end], '.3g') for end in ('low', 'high')]
    return [cell(point['value'], '.3g', row.id), *ends]


def _threads_picture(row, number):
    points = [p for p in overheads(row) if p['construct'] in BY_THREADS and not p['bytes']]
    title = f'Overheads over threads on {_where(row)}'
    layers = _log_log(points, 'threads', 'threads', BY_THREADS)
    table = _table(row, overheads(row), title)
    return points and _picture(
        'overheads-threads', row, number, title, READ_THREADS, layers, table
    )


def _bytes_picture(row, number):
    points = [p for p in overheads(row) if p['construct'] in BY_BYTES]
    most = max((point['threads'] for point in points), default=0)
    points = [point for point in points if point['threads'] == most]
    title = f'Overheads over bytes with {most} threads on {_where(row)}'
    layers = _log_log(points, 'bytes', 'bytes of the array', BY_BYTES)
    return points and _picture('overheads-bytes', row, number, title, READ_BYTES, layers, None)


def _where(row):
    """'local:default, gcc-o2 active': with the values of the run's parameters."""
    return ' '.join([f'{row.where}, {row.preset}', *row.parameters])


def _log_log(points, field, title, constructs):
    """Layers; of the constructs those that were measured. Marked on the axes are what was measured
    (no 1.5 threads) and whole steps."""
    if not points:
        return []
    names = [n for n in constructs if any(point['construct'] == n for point in points)]
    # a logarithm has no 0: an interval that reaches it is drawn to a third of the figure
    points = [{**point, 'drawn_low': max(point['low'], point['value'] / 3)} for point in points]
    steps = charts.log_steps(min(p['drawn_low'] for p in points), max(p['high'] for p in points))
    measured = sorted({point[field] for point in points})
    base = alt.Chart(charts.data(points)).encode(
        x=alt.X(f'{field}:Q', title=title, axis=alt.Axis(values=measured, format=',d'),
                scale=alt.Scale(type='log', nice=False, padding=EDGE_PX)),
        y=alt.Y('value:Q', title='overhead, us', axis=alt.Axis(values=steps, format='~g'),
                scale=alt.Scale(type='log', nice=False, domain=[steps[0], steps[-1]])),
        color=charts.color('construct', names, 'construct'),
    )  # fmt: skip
    spread = base.mark_rule(strokeWidth=2).encode(y='drawn_low:Q', y2='high:Q')
    tip = charts.tips(construct='construct:N', threads='threads:Q', bytes='bytes:Q', us='value:Q')
    return [spread, *charts.lines(base, charts.shape('construct', names, 'construct'), tip)]


def _table(row, points, title):
    titles = ['construct', 'bytes', 'threads', 'overhead, us', 'low', 'high',
              '10 % of a kernel of, us']  # fmt: skip
    lines = [
        [Cell(p['construct']), Cell(str(p['bytes'] or ''), p['bytes']), cell(p['threads']),
         *_figures(p, row), cell(10 * p['value'], '.3g')]
        for p in points
    ]  # fmt: skip
    return Table(titles, lines, title)
