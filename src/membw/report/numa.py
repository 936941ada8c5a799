"""The section on NUMA: Triad against the number of threads, memory local and remote."""

import re

import altair as alt

from membw.report import charts
from membw.report.model import Cell, Picture, Section, Table

POINT = re.compile(r'^triad_(local|remote)_(\d+)$')
MEMORIES = ('local', 'remote')
LATE = 0.6  # of the threads: a label would not fit to the right
HOW_TO_READ = (
    'How to read: the curve rises while threads still find free bandwidth and flattens where the '
    'memory of the domain is full; the ring is saturation, the fewest threads with 95 % of the '
    'best. Remote (dashed, squares) below local: the price of the link.'
)


def section(rows):
    found = Section('numa', 'NUMA scan: threads of one domain, memory local and remote')
    scans = [row for row in rows if row.test == 'numa_scan']
    for row in scans:
        curves = curves_of(row)
        if curves:
            found.pictures.append(_picture(row, curves))
        else:
            found.notes.append(f'{row.where} {row.preset}: no curve, {row.verdict}: {row.why}')
        if curves and 'remote' not in curves:
            found.notes.append(f'{row.where}: one NUMA domain, nothing remote to compare.')
    if not scans:
        found.empty = 'No check `numa_scan` is in this run: `membw run -n numa_scan` measures it.'
    return found


def curves_of(row):
    """{'local': {'points': [(threads, GB/s)], 'saturation': threads}} as far as measured."""
    curves = {}
    for name, (value, _) in row.others.items():
        point = POINT.match(name)
        if point:
            curve = curves.setdefault(point[1], {'points': [], 'saturation': None})
            curve['points'].append((int(point[2]), value))
    for memory, curve in curves.items():
        curve['points'].sort()
        curve['saturation'] = int(row.others.get(f'saturation_{memory}', (0,))[0]) or None
    return curves


def _picture(row, curves):
    title = f'Triad of one NUMA domain on {row.where}, {row.preset}'
    points = [
        {'memory': memory, 'threads': threads, 'gbs': round(gbs, 2), 'provenance': row.id,
         'saturated': threads == curve['saturation'],
         'late': threads > LATE * curve['points'][-1][0],
         'label': f'{threads} threads: {gbs:.1f} GB/s'}
        for memory, curve in curves.items() for threads, gbs in curve['points']
    ]  # fmt: skip
    name = f'numa-{row.where.replace(":", "-")}-{row.preset}'
    chart = charts.as_dict(_chart(points), 300, f'{title}: {_said(curves)}')
    return Picture(name, title, HOW_TO_READ, chart, _table(row, points))


def _said(curves):
    return ', '.join(f'{m} saturates at {c["saturation"]} threads' for m, c in curves.items())


def _chart(points):
    memories = [m for m in MEMORIES if any(p['memory'] == m for p in points)]
    most = max(point['threads'] for point in points)
    axis = alt.Axis(tickMinStep=1, format='d', tickCount=min(most, 12))
    scale = alt.Scale(domain=[0, most + 0.5], nice=False)
    base = alt.Chart(charts.data(points)).encode(
        x=alt.X('threads:Q', title='threads', axis=axis, scale=scale),
        y=alt.Y('gbs:Q', title='Triad, GB/s', scale=alt.Scale(zero=True)),
        color=charts.color('memory', memories, 'memory'),
    )
    dash = alt.Scale(domain=memories, range=[[1, 0], [6, 4]][: len(memories)])
    line = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash('memory:N', scale=dash, legend=None)
    )
    tip = charts.tips(memory='memory:N', threads='threads:Q', **{'GB/s': 'gbs:Q'})
    dots = base.mark_point(size=60, filled=True, opacity=1).encode(
        shape=charts.shape('memory', memories, 'memory'), tooltip=tip
    )
    return alt.layer(line, dots, *_saturation(base, points))


def _saturation(base, points):
    """A ring and its figures, on the side where there is room."""
    at = base.transform_filter('datum.saturated')
    layers = [at.mark_point(size=320, shape='circle', filled=False, strokeWidth=2.5, opacity=1)]
    sides = {
        False: {'align': 'left', 'dx': 2, 'dy': 24},
        True: {'align': 'right', 'dx': -14, 'dy': -8},
    }
    for late in sorted({point['late'] for point in points if point['saturated']}):
        side = at.transform_filter(f'datum.late == {str(late).lower()}')
        text = side.mark_text(fontSize=12, **sides[late])
        layers.append(text.encode(text='label:N', color=alt.value('@fore')))
    return layers


def _table(row, points):
    heads = [('memory', False), ('threads', True), ('GB/s', True), ('', False)]
    lines = [
        [Cell(p['memory']), Cell(str(p['threads']), p['threads']),
         Cell(f'{p["gbs"]:.1f}', p['gbs'], row.id), Cell('saturated' if p['saturated'] else '')]
        for p in points
    ]  # fmt: skip
    return Table(heads, lines, f'NUMA scan of {row.where}, {row.preset}')
