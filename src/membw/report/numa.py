"""The section on NUMA: a kernel against the number of threads, by where the memory is."""

import re

import altair as alt

from membw.plural import plural
from membw.report import charts
from membw.report.model import Cell, Section, Table, number

POINT = re.compile(r'^([a-z0-9]+)_([a-z]+)_(\d+)$')  # triad_local_12
MEMORIES = {'local': [1, 0], 'remote': [6, 4], 'cpuless': [2, 2]}  # how their lines are dashed
LATE = 0.6  # of the threads: a label would not fit to the right
HOW_TO_READ = (
    'How to read: the curve rises while threads still find free bandwidth and flattens where the '
    'memory of the domain is full; the ring is saturation, the fewest threads with 95 % of the '
    'best. Remote (dashed) below local: the price of the link. Cpuless (dotted): memory of a '
    'domain without CPUs, such as HBM beside DDR.'
)


def section(rows):
    made = Section('numa', 'NUMA scan: threads of one domain, by where the memory is')
    scans = [row for row in rows if row.test == 'numa_scan']
    for row in scans:
        curves = curves_of(row.others)
        if curves:
            title = f'{_kernel(curves)} of one NUMA domain on {row.where}, {row.preset}'
            made.pictures.append(_picture(title, curves, row))
        else:
            made.notes.append(f'{row.where} {row.preset}: no curve, {row.verdict}: {row.why}')
        if curves and 'remote' not in curves:
            made.notes.append(f'{row.where}: one NUMA domain, nothing remote to compare.')
    if not scans:
        made.empty = 'No check `numa_scan` is in this run: `membw run -n numa_scan` measures it.'
    return made


def curves_of(figures):
    """{'local': {'points': [(threads, GB/s)], 'saturation': threads}} of {name: (value, unit)}."""
    curves = {}
    for name, (value, _) in figures.items():
        point = POINT.match(name)
        if point:
            curve = curves.setdefault(point[2], {'points': [], 'saturation': None})
            curve['kernel'] = point[1]
            curve['points'].append((int(point[3]), value))
    for memory, curve in curves.items():
        curve['points'].sort()
        curve['saturation'] = int(figures.get(f'saturation_{memory}', (0,))[0]) or None
    return curves


def _kernel(curves):
    return next(iter(curves.values()))['kernel'].capitalize()


def _points(curves, provenance):
    return [
        {'memory': memory, 'threads': threads, 'gbs': round(gbs, 2), 'provenance': provenance,
         'saturated': threads == curve['saturation'],
         'late': threads > LATE * curve['points'][-1][0],
         'label': f'{plural(threads, "thread")}: {gbs:.1f} GB/s'}
        for memory, curve in curves.items() for threads, gbs in curve['points']
    ]  # fmt: skip


def _picture(title, curves, row):
    points = _points(curves, row.id)
    said = ', '.join(
        f'{m} saturates at {plural(c["saturation"], "thread")}' for m, c in curves.items()
    )
    name, layers = f'numa-{row.where}-{row.preset}', _layers(points, _kernel(curves))
    text, table = f'{title}: {said}', _table(row, points)
    return charts.picture(name, title, HOW_TO_READ, layers, 300, text, table)


def _layers(points, kernel):
    measured = {point['memory'] for point in points}
    memories = [m for m in MEMORIES if m in measured] + sorted(measured - set(MEMORIES))
    most = max(point['threads'] for point in points)
    axis = alt.Axis(tickMinStep=1, format='d', tickCount=min(most, 12))
    # two points do not fill the width of twelve
    scale = alt.Scale(domain=[0.5, max(most, 4) + 0.5], nice=False)
    base = alt.Chart(charts.data(points)).encode(
        x=alt.X('threads:Q', title='threads', axis=axis, scale=scale),
        y=alt.Y('gbs:Q', title=f'{kernel}, GB/s', scale=alt.Scale(zero=True)),
        color=charts.color('memory', memories, 'memory'),
    )
    dashes = [MEMORIES.get(m, [8, 3]) for m in memories]
    tip = charts.tips(memory='memory:N', threads='threads:Q', **{'GB/s': 'gbs:Q'})
    line, dots = charts.lines(base, charts.shape('memory', memories, 'memory'), tip)
    line = line.encode(strokeDash=charts.stroke_dash('memory', memories, dashes, 'memory'))
    return [line, dots, *_saturation(base, points)]


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
    lines = [
        [Cell(p['memory']), number(p['threads']), number(p['gbs'], '.1f', row.id),
         Cell('saturated' if p['saturated'] else '')]
        for p in points
    ]  # fmt: skip
    return Table(['memory', 'threads', 'GB/s', ''], lines,
                 f'NUMA scan of {row.where}, {row.preset}')  # fmt: skip
