"""The section on DGEMM: what was reached beside what it can be compared with."""

import altair as alt

from membw.report import charts
from membw.report.model import Cell, Section, Table
from membw.report.rows import metrics_of

TEST = 'dgemm'
# the bars, from the outermost denominator inward
STATED, ATTAINABLE = 'stated peak', 'attainable'
REACHED = {'square': 'square', 'k192': 'k = 192'}
BARS = (STATED, ATTAINABLE, *REACHED.values())
HOW_TO_READ = (
    'How to read: the step from the stated peak to what was attainable is frequency, licence of '
    'wide instructions or power; the step from there to what was reached is the library. '
    'Attainable is measured around each multiplication, by the same threads.'
)
LEAD = (
    'GFlop/s of a validated multiplication, 2 m n k, by the library that the preset was linked '
    'with. INVALID runs have no figure: one core of a node is not a slow node.'
)
NOT_STATED = 'No peak is stated: `peak_gflops` of the partition, in its system file, adds the bar.'


def section(rows):
    """Bars of each partition, a group per library, and the table of all runs; None: no run."""
    rows = [row for row in rows if row.test == TEST]
    if not rows:
        return None
    made = Section('dgemm', 'DGEMM and its denominators', LEAD)
    measured = [row for row in rows if row.figures]
    for where in sorted({row.where for row in measured}):
        made.pictures.append(_picture(where, [row for row in measured if row.where == where]))
    made.tables.append(_table(rows))
    if not any(STATED in bars(row) for row in measured):
        made.notes.append(NOT_STATED)
    return made


def bars(row):
    """{bar: GFlop/s} of a run, as far as they are known."""
    values = {name: figure.value for name, figure in row.figures.items()}
    percents = {}
    if values.get('attainable_share'):
        percents[STATED] = 100 * values['attainable'] / values['attainable_share']
    percents[ATTAINABLE] = values.get('attainable')
    percents |= {bar: values.get(name) for name, bar in REACHED.items()}
    return {bar: value for bar, value in percents.items() if value}


def _picture(where, rows):
    title = f'DGEMM on {where}'
    points = [
        {'library': row.pinning, 'bar': bar, 'gflops': round(value, 1), 'provenance': row.id}
        for row in rows
        for bar, value in bars(row).items()
    ]
    most = max(point['gflops'] for point in points)
    chart = alt.Chart(charts.data(points)).encode(
        y=alt.Y('library:N', title=None, sort=None),
        yOffset=alt.YOffset('bar:N', sort=list(BARS)),
        x=alt.X('gflops:Q', title='GFlop/s', scale=alt.Scale(domain=[0, 1.15 * most], nice=False)),
    )
    drawn = chart.mark_bar().encode(
        color=charts.color('bar', BARS, None, drawn={point['bar'] for point in points}),
        tooltip=charts.tips(library='library:N', bar='bar:N', **{'GFlop/s': 'gflops:Q'}),
    )
    text = chart.mark_text(align='left', dx=5).encode(text=alt.Text('gflops:Q', format='.1f'))
    height = 24 * len(points) + 20
    return charts.picture(f'dgemm-{where}', title, HOW_TO_READ, [drawn, text], height)


def _table(rows):
    metrics = metrics_of(rows)
    titles = ['partition', 'preset', 'library', *(m.title for m in metrics), 'verdict', 'why']
    lines = [
        [Cell(row.where), Cell(row.preset), Cell(row.pinning),
         *(row.cell(metric.name) for metric in metrics),
         Cell(row.verdict, provenance=row.id, verdict=row.verdict), Cell(row.why)]
        for row in rows
    ]  # fmt: skip
    return Table(titles, lines, 'Runs of DGEMM; shares are in percent').slim('partition')
