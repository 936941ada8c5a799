"""The section on compilers: what each made of the same source, and with which kind of store."""

import altair as alt

from membw.report import charts
from membw.report.model import NONE, Cell, Section, Table, number
from membw.report.rows import metrics_of

UNKNOWN = 'not known'
KINDS = {  # as `membw codegen` names them, in one order and one colour for all pictures
    'ordinary': 'ordinary stores', 'nontemporal': 'non-temporal stores',
    'libc': 'copy by libc', 'intel': "copy by Intel's runtime",
    'mixed': 'mixed', 'string': 'string instruction',
}  # fmt: skip
HOW_TO_READ = (
    'How to read: the best run of each preset, whatever its pinning; shape and colour say how the '
    'binary stores. Ordinary stores also read the line they write, which STREAM does not count: '
    'compare marks of one shape.'
)
LEAD = 'What each compiler made of the same source, as `membw codegen` read it off the binary.'


def section(rows):
    made = Section('compilers', 'Compilers and their stores', LEAD)
    best = best_runs(rows)
    presets = {preset for _, preset, _ in best}
    if len(presets) < 2:
        only = f'only {presets.pop()}' if presets else 'no run of the check `stream`'
        made.empty = f'Nothing to compare: {only} has figures that can be believed.'
        return made
    for where in sorted({where for where, _, _ in best}):
        of_where = {(p, m): row for (w, p, m), row in best.items() if w == where}
        metrics = [m for m in metrics_of(rows) if any(m == other for _, other in of_where)]
        for metric in metrics:
            most = _most(of_where, metric.unit)
            made.pictures.append(_picture(where, metric, of_where, most))
    made.tables.append(_table(best))
    if all(store_of(row, m.name) == UNKNOWN for (_, _, m), row in best.items()):
        made.notes.append('The results do not say which stores the binaries use.')
    return made


def best_runs(rows):
    """(partition, preset, bandwidth) -> the Row with the highest figure."""
    best = {}
    for row in rows:
        for figure in (f for f in row.figures.values() if f.metric.is_bandwidth):
            key = row.where, row.preset, figure.metric
            if key not in best or figure.value > best[key].figures[figure.metric.name].value:
                best[key] = row
    return best


def store_of(row, kernel):
    """How the binary stores, in words."""
    kind = row.codegen.get(kernel, {}).get('stores')
    return KINDS.get(kind, kind) or UNKNOWN


def _most(best, unit):
    """The highest figure of all pictures of that unit: they are compared by eye."""
    return max(row.figures[m.name].value for (_, m), row in best.items() if m.unit == unit)


def _picture(where, metric, best, most):
    title = f'{metric.name.capitalize()} by compiler on {where}'
    points = [
        {'preset': preset, 'gbs': round(row.figures[m.name].value, 2),
         'stores': store_of(row, m.name), 'pinning': row.pinning, 'provenance': row.id}
        for (preset, m), row in best.items() if m == metric
    ]  # fmt: skip
    kinds = [
        kind for kind in (*KINDS.values(), UNKNOWN) if any(p['stores'] == kind for p in points)
    ]
    room = alt.Scale(domain=[0, 1.17 * most], nice=False)  # for the figure beside the last mark
    chart = alt.Chart(charts.data(points)).encode(
        y=alt.Y('preset:N', title=None, sort='-x', axis=alt.Axis(grid=True)),
        x=alt.X('gbs:Q', title=metric.title, scale=room),
    )
    tip = charts.tips(
        preset='preset:N', stores='stores:N', pinning='pinning:N', **{'GB/s': 'gbs:Q'}
    )
    marks = chart.mark_point(size=110, filled=True, opacity=1).encode(
        color=charts.color('stores', kinds, 'stores'),
        shape=charts.shape('stores', kinds, 'stores'),
        tooltip=tip,
    )
    text = chart.mark_text(align='left', dx=9).encode(text=alt.Text('gbs:Q', format='.1f'))
    name, height = f'compilers-{where}-{metric.name}', 26 * len(points) + 20
    return charts.picture(name, title, HOW_TO_READ, [marks, text], height)


def _table(best):
    metrics = list(dict.fromkeys(metric for _, _, metric in best))
    first, last = metrics[0].name, metrics[-1].name
    titles = ['partition', 'preset', 'compiler', *(m.name.capitalize() for m in metrics)]
    titles += [f'stores of {name.capitalize()}' for name in (first, last)]
    titles.append(f'{last.capitalize()} moved')
    lines = {(where, preset) for where, preset, _ in best}
    rows = [_line(where, preset, best, metrics) for where, preset in sorted(lines)]
    caption = 'Best run of each preset: GB/s counted, and moved as estimated'
    return Table(titles, rows, caption).slim('partition')


def _line(where, preset, best, metrics):
    runs = {metric.name: best.get((where, preset, metric)) for metric in metrics}
    known = next(row for row in runs.values() if row)
    cells = [Cell(where), Cell(preset), Cell(known.provenance.get('compiler', '-'))]
    cells += [
        number(row.figures[name].value, '.1f', row.id) if row else NONE
        for name, row in runs.items()
    ]
    first, last = metrics[0].name, metrics[-1].name
    return [*cells, _stored(known, first), _stored(known, last), _moved(runs[last], last)]


def _stored(row, kernel):
    """Kind and width: a non-temporal store of 512 bits is not one of 64."""
    known = row.codegen.get(kernel, {})
    bits, calls = known.get('width_bits'), known.get('calls')
    called = f': {" ".join(calls)}' if calls and known.get('stores') in ('libc', 'intel') else ''
    return Cell(store_of(row, kernel) + called + (f', {bits} bits' if bits else ''))


def _moved(row, name):
    """With write-allocate; what libc does is settled when it runs, and not known."""
    factor = row.codegen.get(name, {}).get('write_allocate_factor') if row else None
    return number(row.figures[name].value * factor, '.1f', row.id) if factor else NONE
