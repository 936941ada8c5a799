"""The table of `membw bench` as a picture, drawn from the JSON that it exported."""

import json
from pathlib import Path

import altair as alt

from membw.report import charts, pictures

HOW_TO_READ = (
    'How to read: bar: median of the paired ratios of a round; line: quartiles. 1 (dashed) = '
    '{base}. Right of 1 is faster by the same memory: what differs is how the program uses it.'
)


def draw(path):
    """Draw the JSON at PATH to the same name with .png; returns the picture's path."""
    data = json.loads(Path(path).read_text())
    rows = [{k: v for k, v in row.items() if k != 'program'} for row in data['table']]
    kernels = [k for k in dict.fromkeys(k for row in rows for k in row) if _has(rows, k)]
    machine, name = data['machine'], Path(path).with_suffix('.png')
    where = (
        f'{machine["cpu_model"]}, {machine["threads"]} threads, {data["array_size"]} elements '
        f'per array, {data["rounds_used"]} rounds, {data["time"][:10]}'
    )
    drawn = [_picture(kernel, data['table']) for kernel in kernels]
    drawn[0].title += f': {where}'
    drawn[0].how_to_read = HOW_TO_READ.format(base=data['reference'])
    pictures.save(drawn, name)
    return name


def _has(rows, kernel):
    return any('median' in row[kernel] for row in rows if isinstance(row.get(kernel), dict))


def _picture(kernel, table):
    points = [
        {'program': row['program'], 'kind': row['program'].split(',')[0],
         **{name: row[kernel][name] for name in ('median', 'low', 'high')}}
        for row in table if row.get(kernel)
    ]  # fmt: skip
    kinds = list(dict.fromkeys(point['kind'] for point in points))[: charts.MOST]
    base = alt.Chart(charts.data(points)).encode(
        y=alt.Y('program:N', title=None, sort=None, axis=alt.Axis(labelLimit=320))
    )
    ratio = alt.X('median:Q', title='ratio', scale=alt.Scale(zero=True))
    bar = base.mark_bar(opacity=0.75).encode(x=ratio, color=charts.color('kind', kinds, 'program'))
    spread = base.mark_rule(color='@fore', strokeWidth=2).encode(x='low:Q', x2='high:Q')
    text = base.mark_text(align='left', dx=4, color='@fore').encode(
        x=alt.value(0), text=alt.Text('median:Q', format='.2f')
    )
    one = alt.Chart(charts.data([{'one': 1}])).mark_rule(color='@muted', strokeDash=[5, 4])
    layers, height = [bar, spread, text, one.encode(x='one:Q')], 22 * len(points) + 10
    said = f'{kernel}: ratios of {len(points)} programs'
    return charts.picture(f'bench-{kernel}', kernel.capitalize(), '', layers, height, said)
