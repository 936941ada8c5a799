"""The section on pairs: core to core, messages by their size, nodes by nodes."""

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import altair as alt
import numpy as np
import yaml
from scipy.sparse.csgraph import connected_components

from membw.checkout import root
from membw.rank.links import in_words
from membw.report import charts
from membw.report.model import NONE, Cell, Section, Table, number
from membw.results import case as of_case

MATRICES = 4  # the first ones of a run
CELLS = 64  # of a side; of more CPUs or nodes several share one
WRITTEN = 10  # with so few, the figures stand in the cells
NAMED = 40  # nodes on an axis
CLASSES = ('llc', 'domain', 'socket')  # what two CPUs may share, the innermost first
NOTHING = 0.5  # where a message of no byte stands on a logarithmic axis
METHODS = ('cas', 'lines', 'oneway')

OF_CORES = (
    'How to read: one cell per pair and home: the row is the CPU whose side touched the memory '
    'first, the column the other one. Dark blocks on the diagonal share a cache, their borders '
    'are domains and sockets; a bright row or column inside a block is a core far from its own.'
)
OF_TIMES = (
    'How to read: below the bend a message costs the latency, above it the bandwidth; a step is '
    'MPI changing its protocol. Dashed: what was published of this system, lower is better.'
)
OF_RATES = (
    'How to read: the level at the right is the bandwidth, where a curve reaches half of it is '
    'n-half. Dashed: what was published of this system, higher is better.'
)
OF_NODES = (
    'How to read: a bright row with its column is a slow node, one bright cell off the diagonal '
    'and its mirror image a slow link (crossed where it FAILs), dark blocks are switches.'
)


@dataclass
class Curve:
    """Times of one pair: {bytes: us}; `published` ones stand behind."""

    name: str
    where: str
    published: bool = False
    times: dict = field(default_factory=dict)


def section(records, cases, links):
    """Records of pingpong, cases of imb_pingpong, rank.links.Links of `pingpong --nodes`."""
    made = Section('pairs', 'Pairs: core to core, messages, node to node')
    matrices = [r for r in records if r.timings.get('pairs') and not r.invalid]
    made.pictures += [_of_cores(r, i) for i, r in enumerate(matrices[:MATRICES], 1)]
    curves = [c for r in records for c in _of_messages(r)] + _of_imb(cases)
    made.pictures += _of_curves(curves)
    made.pictures += _of_links(links)
    if len(matrices) > MATRICES:
        made.notes.append(f'{len(matrices) - MATRICES} further matrices of cores have no picture.')
    if not made.pictures:
        made.empty = (
            'No pair was measured: `membw run -n core_pairs`, `-n pingpong`, `-n cluster_pairs`.'
        )
    return made


# --- core to core ----------------------------------------------------------------------------


def by_topology(pairs):
    """The CPUs of these pairs, those beside each other that share most."""
    cpus = sorted({cpu for p in pairs for cpu in (p['cpu_a'], p['cpu_b'])})
    at = {cpu: i for i, cpu in enumerate(cpus)}
    keys = {cpu: (cpu,) for cpu in cpus}
    for reach in range(1, len(CLASSES) + 1):
        within = ('smt', *CLASSES[:reach])
        shares = np.zeros((len(cpus), len(cpus)))
        for p in pairs:
            shares[at[p['cpu_a']], at[p['cpu_b']]] = p['class'] in within
        _, groups = connected_components(shares, directed=False)
        keys = {cpu: (group, *keys[cpu]) for cpu, group in zip(cpus, groups)}
    return sorted(cpus, key=keys.get)


def _of_cores(record, which):
    pairs = record.timings['pairs']
    known = (m for m in METHODS if any(p['method'] == m for p in pairs))
    method = next(known, pairs[0]['method'])
    pairs = [p for p in pairs if p['method'] == method]
    cpus = by_topology(pairs)
    times = {}
    for p in pairs:
        home, other = (p['cpu_a'], p['cpu_b'])[:: 1 if p['home'] == 'a' else -1]
        times[home, other] = p['median_ns']
    cells, names = _cells(times, cpus, statistics.median)
    title = f'One way between cores of {record.host}, {method}, ns'
    low, high = min(times.values()), max(times.values())
    words = f'{title}: {len(cpus)} CPUs, {low:.0f} to {high:.0f} ns'
    tip = charts.tips(home='row:N', other='column:N', ns='value:Q')
    layers = _heat_map(cells, names, 'ns', 'other CPU', 'home: touched first by CPU', tip)
    lines = []
    for kind in dict.fromkeys(p['class'] for p in pairs):
        of_kind = [p['median_ns'] for p in pairs if p['class'] == kind]
        values = (min(of_kind), statistics.median(of_kind), max(of_kind))
        lines.append([Cell(kind), number(len(of_kind) // 2), *(number(v, '.1f') for v in values)])
    table = Table(['class', 'pairs', 'least, ns', 'median', 'most'], lines, title)
    name = f'pairs-cores-{record.host}-{which}'
    return charts.picture(name, title, OF_CORES, layers, _side(names), words, table)


def _cells(times, names, summary):
    """Rows for the chart, and the names of the sides; neighbours share a cell where there are
    too many: what `summary` makes of theirs."""
    share = math.ceil(len(names) / CELLS)
    bins = {name: i // share for i, name in enumerate(names)}
    parts = [names[i : i + share] for i in range(0, len(names), share)]
    texts = [str(p[0]) if len(p) == 1 else f'{p[0]} .. {p[-1]}' for p in parts]
    values = defaultdict(list)
    for (one, other), value in times.items():
        values[bins[one], bins[other]].append(value)
    rows = [
        {'row': texts[i], 'column': texts[j], 'value': float(f'{summary(those):.4g}')}
        for (i, j), those in values.items()
    ]
    return rows, texts


def _side(names):
    """Pixels of a heat map."""
    return min(420, max(120, 36 * len(names)))


def _heat_map(cells, names, unit, across, down, tip, top=None, marked=()):
    values = [cell['value'] for cell in cells]
    domain = [min(values), min(top or math.inf, max(values))]
    middle = sum(domain) / 2
    shared = {'labels': len(names) <= NAMED, 'ticks': False, 'domain': False, 'labelOverlap': True}
    angle = 0 if max(map(len, names)) < 4 else -90
    sides = {'sort': names, 'scale': alt.Scale(domain=names)}
    base = alt.Chart(charts.data(cells)).encode(
        x=alt.X('column:N', title=across, axis=alt.Axis(**shared, labelAngle=angle), **sides),
        y=alt.Y('row:N', title=down, axis=alt.Axis(**shared), **sides),
    )
    scale = alt.Scale(scheme='viridis', domain=domain, clamp=True)
    legend = alt.Legend(title=unit, orient='right', gradientLength=140)
    color = alt.Color('value:Q', scale=scale, legend=legend)
    layers = [base.mark_rect().encode(color=color, tooltip=tip)]
    dark = alt.condition(f'datum.value < {middle}', alt.value('white'), alt.value('black'))
    if len(names) <= WRITTEN:
        text = base.mark_text(fontSize=11).encode(text=alt.Text('value:Q', format='.3~g'))
        layers.append(text.encode(color=dark))
    if marked:
        crosses = alt.Chart(charts.data(list(marked))).mark_point(
            shape='cross', size=90, angle=45, filled=True, color='@fail', stroke='white'
        )
        at = {'x': alt.X('column:N', sort=names), 'y': alt.Y('row:N', sort=names)}
        layers.append(crosses.encode(**at))
    return layers


# --- messages --------------------------------------------------------------------------------


def _of_messages(record):
    """Curves of a record of two ranks, and of what was published of the same cores."""
    if record.invalid:
        return []
    where = record.traits.get('partition', record.host)
    curves = {}
    for m in record.timings.get('messages', ()):
        name = f'{m["cpu_a"]}-{m["cpu_b"]}'
        curve = curves.setdefault(name, Curve(f'{name} {m["class"]}', where))
        curve.times[m['bytes']] = m['median_us']
    published = _published(where)
    behind = [
        _reference(name, where, {k: row[0] for k, row in published[name].items()})
        for name in curves
        if published.get(name)
    ]
    return [*curves.values(), *(curve for curve in behind if curve)]


def _published(where):
    """{pair: its references} of a partition."""
    path = Path(root(), 'systems', 'references', f'{where.partition(":")[0]}.yaml')
    table = yaml.safe_load(path.read_text()) if path.is_file() else {}
    return (table.get('imb_pingpong') or {}).get(where) or {}


def _reference(pair, where, figures):
    times = {int(k.removeprefix('t_')): v for k, v in figures.items() if k.startswith('t_') and v}
    return Curve(f'{pair} published', where, True, times) if times else None


def _of_imb(cases):
    curves = []
    for case in cases:
        if of_case.test(case) != 'imb_pingpong' or case.get('verdict') != 'VALID':
            continue
        pair, where, measured = case.get('pair') or '?', of_case.where(case), of_case.figures(case)
        times = {int(k[2:]): f.value for k, f in measured.items() if k.startswith('t_')}
        behind = _reference(pair, where, {k: f.reference for k, f in measured.items()})
        curves += [Curve(f'{pair} IMB', where, times=times)] + ([behind] if behind else [])
    return curves


def _of_curves(curves):
    """Time and bandwidth, a picture each, per partition or node."""
    pictures = []
    for where in dict.fromkeys(curve.where for curve in curves):
        unique = {c.name: c for c in curves if c.where == where and c.times}
        own = list(unique.values())[: charts.MOST]
        if not own:
            continue
        least = ', '.join(f'{c.name} {min(c.times.values()):.3g} us' for c in own)
        for kind, title, how, value in (
            ('times', 'one way, us', OF_TIMES, lambda size, us: us),
            ('rates', '10^6 B/s', OF_RATES, lambda size, us: size / us if size else None),
        ):
            text = f'Messages of MPI on {where}: {title}'
            layers = _lines(own, title, value)
            table = _table(own, text) if kind == 'times' else None
            name, words = f'pairs-{kind}-{where}', f'{text}: {least}'
            pictures.append(charts.picture(name, text, how, layers, 320, words, table))
    return pictures


def _lines(curves, title, value):
    points = [
        {'pair': c.name, 'published': c.published, 'bytes': size, 'at': size or NOTHING,
         'size': in_words(size), 'value': float(f'{value(size, us):.4g}')}
        for c in curves for size, us in sorted(c.times.items()) if value(size, us)
    ]  # fmt: skip
    names = [c.name for c in curves]
    sizes = [size or NOTHING for size in sorted({p['bytes'] for p in points})]
    label = (
        f"datum.value <= {NOTHING} ? '0 B' : datum.value >= 1048576 ? datum.value / 1048576 + "
        "' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
    )
    axis = alt.Axis(values=sizes, labelExpr=label, labelOverlap=True, labelSeparation=8)
    base = alt.Chart(charts.data(points)).encode(
        x=alt.X('at:Q', title='bytes of a message', scale=alt.Scale(type='log'), axis=axis),
        y=alt.Y('value:Q', title=title, scale=alt.Scale(type='log'),
                axis=alt.Axis(format='~g', values=[10.0**k for k in range(-3, 7)])),
        color=charts.color('pair', names, 'pair'),
    )  # fmt: skip
    dash = alt.condition('datum.published', alt.value([6, 4]), alt.value([1, 0]))
    tip = charts.tips(pair='pair:N', size='size:N', value='value:Q')
    line, dots = charts.lines(base, charts.shape('pair', names, 'pair'), tip, 40)
    return [line.encode(strokeDash=dash, detail='pair:N'), dots]


def _table(curves, title):
    sizes = sorted({size for c in curves for size in c.times})
    rows = [
        [Cell(in_words(size), size),
         *(number(c.times[size], '.4g') if size in c.times else NONE for c in curves)]
        for size in sizes
    ]  # fmt: skip
    return Table(['bytes', *(c.name for c in curves)], rows, title)


# --- node to node ----------------------------------------------------------------------------


def _of_links(links):
    if not links:
        return []
    names = sorted({name for link in links.links for name in link.nodes})
    return [_of_size(links, names, size) for size in sorted(links.effects)]


def _of_size(links, names, size):
    known = [k for k in links.links if size in k.figures and k.verdict != 'INVALID']
    usual = statistics.median(k.figures[size] for k in known)
    times = {}
    for link in known:
        times[link.nodes] = times[link.nodes[::-1]] = link.figures[size] / usual
    # one bright cell must not be lost among its neighbours: the slowest of those that share it
    cells, texts = _cells(times, names, max)
    share = math.ceil(len(names) / CELLS)
    at = {name: texts[i // share] for i, name in enumerate(names)}
    marked = [
        {'row': at[one], 'column': at[other]}
        for link in links.slow for one, other in (link.nodes, link.nodes[::-1])
    ]  # fmt: skip
    title = f'{in_words(size)} between {len(names)} nodes, times the usual {usual:.4g} us'
    words = f'{title}: {links.counts()}'
    tip = charts.tips(node='row:N', other='column:N', times_the_usual='value:Q')
    top = max(1.5, 1 + 2 * (statistics.quantiles(times.values(), n=20)[-1] - 1))
    layers = _heat_map(cells, texts, 'times', 'node', 'node', tip, top, marked)
    rows = [
        [Cell(k.name), Cell(k.verdict, verdict=k.verdict), number(k.figures[size], '.4g'),
         number(k.expected.get(size, 0), '.4g')]
        for k in sorted(known, key=lambda k: -times[k.nodes])[:20]
    ]  # fmt: skip
    titles, caption = (
        ['link', 'verdict', 'us', 'expected'],
        f'the 20 slowest links, {in_words(size)}',
    )
    table = Table(titles, rows, caption)
    name = f'pairs-nodes-{size}'
    return charts.picture(name, title, OF_NODES, layers, _side(texts), words, table)
