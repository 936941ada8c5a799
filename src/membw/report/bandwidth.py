"""The section on bandwidth: every kernel and preset against reference and peak."""

from collections import defaultdict

import altair as alt

from membw.report import charts
from membw.report.model import Cell, Picture, Section, Table
from membw.report.rows import KERNELS, UNPINNED

PINNINGS = ('none', 'likwid', 'numactl', 'omp', 'kmp')
HOW_TO_READ = (
    'How to read: one mark a run, by preset (line) and pinning (colour and shape); further right '
    'is faster. Black bar: reference, grey: its tolerance. Dashed: theoretical peak. '
    'A crossed mark FAILs.'
)
LEAD = (
    'Counted GB/s (10⁹ bytes, as STREAM counts them), best of the repetitions. INVALID runs have '
    'no figure: it must not be believed.'
)


def section(rows):
    """Pictures of each partition, one a kernel, and the table of all runs."""
    found = Section('bandwidth', 'Bandwidth by kernel and preset', LEAD)
    rows = [row for row in rows if row.figures or row.pinning != UNPINNED]
    if not rows:
        found.empty = 'No run of the check `stream` is among the results: no preset to show.'
        return found
    for (test, where), members in _groups(rows).items():
        for kernel in KERNELS:
            if any(kernel in row.figures for row in members):
                found.pictures.append(_picture(test, where, kernel, members))
    found.notes += peaks(rows)
    if not found.pictures:
        found.notes.append('No picture: no run of STREAM ended with figures that can be believed.')
    found.tables.append(_table(rows))
    return found


def peaks(rows):
    """Theoretical peaks with their sources, once each; what is held to nothing."""
    said = set()
    for row in rows:
        known = next((f.peak for f in row.figures.values() if f.peak), None)
        source = row.provenance.get('peak source', 'its source is not recorded')
        text = f'theoretical peak {known:g} GB/s ({source})' if known else 'no peak is known'
        if row.figures:
            said.add(f'{row.where}: {text}.')
    measured = [row for row in rows if row.figures]
    bare = [row for row in measured if not any(f.reference for f in row.figures.values())]
    if bare:
        said.add(f'{len(bare)} of {len(measured)} runs have no reference: recorded only.')
    return sorted(said)


def _groups(rows):
    groups = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.preset, r.pinning)):
        groups[row.test, row.where].append(row)
    return groups


def _picture(test, where, kernel, rows):
    measured = [row for row in rows if kernel in row.figures]
    name = f'bandwidth-{test}-{where.replace(":", "-")}-{kernel}'
    title = f'{kernel.capitalize()} on {where}'
    return Picture(name, title, HOW_TO_READ, _chart(title, kernel, measured))


def _chart(title, kernel, rows):
    points = [_point(row, row.figures[kernel]) for row in rows]
    pinnings = [p for p in PINNINGS if any(row.pinning == p for row in rows)]
    pinnings += sorted({row.pinning for row in rows} - set(PINNINGS))  # UNPINNED
    base = alt.Chart(charts.data(points)).encode(
        y=alt.Y('preset:N', title=None, axis=alt.Axis(grid=True, tickBand='extent')),
        yOffset=alt.YOffset('pinning:N', scale=alt.Scale(domain=pinnings)),
    )
    value = alt.X('gbs:Q', title=f'{kernel.capitalize()}, GB/s', scale=alt.Scale(zero=True))
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=value,
        color=charts.color('pinning', pinnings, 'pinning'),
        shape=charts.shape('pinning', pinnings, 'pinning'),
        tooltip=charts.tips(**TIPS),
    )
    layers = [*_references(base, points), marks, *_failed(base, points), *_peak(points)]
    lanes = len({row.preset for row in rows}) * max(2, len(pinnings))
    said = f'{title}: {len(points)} runs, {min(p["gbs"] for p in points)} to '
    said += f'{max(p["gbs"] for p in points)} GB/s'
    return charts.as_dict(alt.layer(*layers), 13 * lanes + 10, said)


TIPS = {
    'preset': 'preset:N', 'pinning': 'pinning:N', 'GB/s': 'gbs:Q',
    'of_reference': 'of_reference:N', 'of_peak': 'of_peak:N', 'verdict': 'verdict:N',
}  # fmt: skip


def _point(row, figure):
    return {
        'preset': row.preset, 'pinning': row.pinning, 'gbs': round(figure.value, 2),
        'reference': figure.reference, 'low': figure.low, 'high': figure.high,
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


def _failed(base, points):
    if all(point['verdict'] != 'FAIL' for point in points):
        return []
    failed = base.transform_filter("datum.verdict == 'FAIL'")
    cross = 'M-1,-1L1,1M1,-1L-1,1'
    mark = failed.mark_point(shape=cross, size=180, color='@fail', strokeWidth=2.5, opacity=1)
    return [mark.encode(x='gbs:Q')]


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
    where = sorted({row.where for row in rows})
    heads = [('test', False), ('partition', False), ('preset', False), ('pinning', False)]
    heads += [(kernel.capitalize(), True) for kernel in KERNELS]
    heads += [('of reference', True), ('of peak', True), ('verdict', False), ('why', False)]
    caption = f'All runs on {", ".join(where)}: GB/s, a click shows whence'
    table = Table(heads, [_cells(row) for row in rows], caption)
    return table.slim('test', 'partition', 'of reference', 'of peak', 'why')


def _cells(row):
    words = [Cell(row.test), Cell(row.where), Cell(row.preset), Cell(row.pinning)]
    figures = [_figure_cell(row, kernel) for kernel in KERNELS]
    lowest = [_lowest(row, 'of_reference'), _lowest(row, 'of_peak')]
    return [*words, *figures, *lowest, Cell(row.verdict, '', row.id, row.verdict), Cell(row.why)]


def _figure_cell(row, kernel):
    figure = row.figures.get(kernel)
    return Cell(f'{figure.value:.1f}', figure.value, row.id) if figure else Cell('-', -1)


def _lowest(row, which):
    """The kernel furthest below its reference; against the peak, the one that comes nearest."""
    choose = min if which == 'of_reference' else max
    found = {k: getattr(f, which) for k, f in row.figures.items() if getattr(f, which)}
    if not found:
        return Cell('-', -1)
    kernel = choose(found, key=found.get)
    return Cell(f'{kernel} {found[kernel]:.0%}', found[kernel], row.id)
