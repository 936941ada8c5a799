"""The section on bandwidth: every kernel and preset against reference and peak."""

from collections import defaultdict

import altair as alt

from membw.plural import plural
from membw.report import charts
from membw.report.model import NONE, Cell, Section, Table
from membw.report.rows import UNPINNED, metrics_of
from membw.results.metrics import HIGHER, common_unit, heads
from membw.run import ratios
from membw.site.references import PINNINGS

HOW_TO_READ = (
    'How to read: one mark per run, by preset (line) and pinning (colour and shape); further '
    '{side} is faster. A line through a mark: where the same run, started again, would read; '
    'marks whose lines overlap may differ by noise alone. Black bar: reference, grey: its '
    'tolerance. Dashed: theoretical peak. A crossed mark FAILs. A run without a mark is INVALID: '
    'the table says why.'
)
NO_PEAK = 'no peak is known: `peak_gbs` and `peak_source` of its system file state it'
LEAD = (
    'Counted GB/s (10⁹ bytes, as STREAM counts them), best of the repetitions. INVALID runs have '
    'no figure: it must not be believed.'
)


def section(rows, compared=()):
    """Pictures of each partition, one a kernel, and the table of all runs."""
    made = Section('bandwidth', 'Bandwidth by kernel and preset', LEAD)
    # a curve has figures of its own, and a section of its own
    rows = [r for r in rows if r.figures or r.pinning != UNPINNED and not r.others]
    if not rows:
        made.empty = 'No run of the check `stream` is among the results: no preset to show.'
        return made
    for (test, where), members in _groups(rows).items():
        metrics = metrics_of(members)
        for metric in metrics:
            alike = [m for m in metrics if m.unit == metric.unit]
            made.pictures.append(_picture(test, where, metric, members, _most(members, alike)))
    made.notes += [*peaks(rows), *ratios.sentences(compared), *ratios.left_out(compared)]
    if not made.pictures:
        made.notes.append('No picture: no run ended with figures that can be believed.')
    made.tables.append(_table(rows))
    return made


def peaks(rows):
    """Theoretical peaks with their sources, once each; what is held to nothing."""
    texts = set()
    for row in rows:
        known = next((f.peak for f in row.figures.values() if f.peak), None)
        source = row.provenance.get('peak source', 'its source is not recorded')
        text = f'theoretical peak {known:g} GB/s ({source})' if known else NO_PEAK
        if any(f.metric.is_bandwidth for f in row.figures.values()):
            texts.add(f'{row.where}: {text}.')
    measured = [row for row in rows if row.figures]
    bare = [row for row in measured if not any(f.reference for f in row.figures.values())]
    if bare:
        texts.add(f'{len(bare)} of {len(measured)} runs have no reference: recorded only.')
    return sorted(texts)


def _groups(rows):
    groups = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.preset, r.pinning)):
        groups[row.test, row.where].append(row)
    return groups


def _most(rows, metrics):
    """Where the axis of all these pictures ends: they are compared by eye."""
    figures = [row.figures[m.name] for row in rows for m in metrics if m.name in row.figures]
    ends = (x for f in figures for x in (f.value, f.high, f.peak, _drawn(f)[1]))
    return max(filter(None, ends))


def _drawn(figure):
    """(from, to) of the interval where it has two ends, else the figure twice."""
    ends = figure.interval or ()
    return ends if len(ends) == 2 and None not in ends else (figure.value, figure.value)


def _picture(test, where, metric, rows, most):
    rows = [row for row in rows if metric.name in row.figures]
    points = [_point(row, row.figures[metric.name]) for row in rows]
    pinnings = [p for p in PINNINGS if any(row.pinning == p for row in rows)]
    pinnings += sorted({row.pinning for row in rows} - set(PINNINGS))  # UNPINNED
    base = alt.Chart(charts.data(points)).encode(
        y=alt.Y('preset:N', title=None, axis=alt.Axis(grid=True, tickBand='extent')),
        yOffset=alt.YOffset('pinning:N', scale=alt.Scale(domain=pinnings)),
    )
    scale = alt.Scale(domain=[0, 1.03 * most], nice=False)
    value = alt.X('value:Q', title=metric.title, scale=scale)
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=value,
        color=charts.color('pinning', pinnings, 'pinning'),
        shape=charts.shape('pinning', pinnings, 'pinning'),
        tooltip=charts.tips(**{metric.unit: 'value:Q'}, **TIPS),
    )
    layers = [*_references(base, points), *_intervals(base, points, pinnings), marks]
    layers += [*_failed(base, points), *_peak(points)]
    height = 13 * len({row.preset for row in rows}) * max(2, len(pinnings)) + 10
    values = [point['value'] for point in points]
    name, title = (
        f'bandwidth-{test}-{where}-{metric.name}',
        f'{metric.name.capitalize()} on {where}',
    )
    how = HOW_TO_READ.format(side='right' if metric.better == HIGHER else 'left')
    text = f'{title}: {plural(len(points), "run")}, {min(values)} to {max(values)} {metric.unit}'
    return charts.picture(name, title, how, layers, height, text)


TIPS = {
    'preset': 'preset:N', 'pinning': 'pinning:N',
    'of_reference': 'of_reference:N', 'of_peak': 'of_peak:N', 'verdict': 'verdict:N',
}  # fmt: skip


def _point(row, figure):
    return {
        'preset': row.preset, 'pinning': row.pinning, 'value': round(figure.value, 2),
        'reference': figure.reference, 'low': figure.low, 'high': figure.high,
        'from': round(_drawn(figure)[0], 2), 'to': round(_drawn(figure)[1], 2),
        'peak': figure.peak, 'verdict': row.verdict, 'provenance': row.id,
        'of_reference': percent(figure.of_reference), 'of_peak': percent(figure.of_peak),
    }  # fmt: skip


def percent(ratio):
    return f'{ratio:.1%}' if ratio else 'not known'


def _references(base, points):
    if not any(point['reference'] for point in points):
        return []
    held = base.transform_filter('datum.reference > 0')
    band = held.mark_bar(color='@band', opacity=0.45).encode(x=alt.X('low:Q'), x2='high:Q')
    return [band, held.mark_tick(color='@fore', thickness=2.5).encode(x='reference:Q')]


def _intervals(base, points, pinnings):
    if all(point['from'] == point['to'] for point in points):
        return []
    rule = base.mark_rule(strokeWidth=1.5, opacity=0.8)
    color = charts.color('pinning', pinnings, 'pinning')
    return [rule.encode(x=alt.X('from:Q'), x2='to:Q', color=color)]


def _failed(base, points):
    if all(point['verdict'] != 'FAIL' for point in points):
        return []
    failed = base.transform_filter("datum.verdict == 'FAIL'")
    cross = 'M-1,-1L1,1M1,-1L-1,1'
    mark = failed.mark_point(shape=cross, size=180, color='@fail', strokeWidth=2.5, opacity=1)
    return [mark.encode(x='value:Q')]


def _peak(points):
    peaks = sorted({point['peak'] for point in points if point['peak']})
    if not peaks:
        return []
    at = alt.Chart(charts.data([{'peak': p, 'label': f'peak {p:g}'} for p in peaks]))
    rule = at.mark_rule(strokeDash=[5, 4], color='@muted').encode(x='peak:Q')
    text = at.mark_text(align='right', dx=-4, baseline='top', y=2, color='@muted')
    return [rule, text.encode(x='peak:Q', text='label:N')]


# the table


def _table(rows):
    where, metrics = sorted({row.where for row in rows}), metrics_of(rows)
    unit = common_unit(metrics)
    # the verdict before the figures: a phone shows it
    titles = ['test', 'partition', 'preset', 'pinning', 'verdict', *heads(metrics)]
    unit = f': {unit}' if unit else ''
    caption = f'All runs on {", ".join(where)}{unit}; a click shows where a figure comes from'
    lines = [_cells(row, metrics) for row in rows]
    table = Table([*titles, 'of reference', 'of peak', 'why'], lines, caption)
    return table.slim('test', 'partition', 'of reference', 'of peak', 'why')


def _cells(row, metrics):
    words = [Cell(row.test), Cell(row.where), Cell(row.preset), Cell(row.pinning)]
    figures = [row.cell(metric.name) for metric in metrics]
    lowest = [_lowest(row, 'of_reference'), _lowest(row, 'of_peak')]
    return [*words, Cell(row.verdict, '', row.id, row.verdict), *figures, *lowest, Cell(row.why)]


def _lowest(row, which):
    """The kernel furthest below its reference; against the peak, the one that comes nearest."""
    choose = min if which == 'of_reference' else max
    shares = {k: getattr(f, which) for k, f in row.figures.items() if getattr(f, which)}
    if not shares:
        return NONE
    name = choose(shares, key=lambda k: row.figures[k].metric.rate(shares[k]))
    return Cell(f'{name} {shares[name]:.0%}', shares[name], row.id)
