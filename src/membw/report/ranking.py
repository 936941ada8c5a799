"""The section on nodes: the ranking of the fleet as `membw rank` judges it, outliers marked."""

import altair as alt
import numpy as np

from membw.rank.fleet import MARGIN
from membw.report import charts, pictures
from membw.report.model import NONE, Cell, Picture, Section, Table, number
from membw.results.metrics import LOWER, common_unit, heads

PICTURES = 6  # the largest groups
NAMED = 15  # slow nodes named in a picture ...
APART = 20  # ... when so many pixels apart
HIGHER_UP = 0.15  # ... or by this part of the picture's height: a name stands at its own figure
DRAWN = 400  # passing nodes on paper; the page draws all
MANY = 200  # nodes; from here on the few slow ones get the width that a logarithm gives
LOW = 'low, not sure'
MARKS = {'PASS': 'circle', LOW: 'diamond', 'SUSPECT': 'square', 'FAIL': 'triangle-down'}
HOW_TO_READ = (
    'How to read: one mark per node; 0 % is the median of its group, below it is slower. '
    'Triangles FAIL: surely more than the margin (dashed) below it, by this kernel or by another, '
    'by one of their ranks or by unsteady repetitions. Diamonds are low, but not surely so: '
    'measure again.'
)
LEAD = (
    'Each node against the median of its peers (same CPU, build, pinning), as `membw rank` does.'
)


def section(fleet):
    """Pictures of the largest groups; the page makes the table of nodes from `as_data`."""
    made = Section('nodes', 'Node ranking', LEAD)
    names = {node.name for node in fleet.nodes} if fleet else set()
    if len(names) < 2:
        only = f'only {names.pop()}' if names else 'no node with a record'
        made.empty = (
            f'Nothing to rank: {only}; a fleet is compared with itself, from two nodes on.'
        )
        return made
    groups = sorted(fleet.groups, key=lambda g: -len(g.nodes))
    groups = [group for group in groups if len(group.nodes) > 1]
    made.pictures = [_picture(group) for group in groups[:PICTURES]]
    if len(groups) > PICTURES:
        made.notes.append(f'{len(groups) - PICTURES} smaller groups have no picture.')
    made.notes += fleet.warnings
    made.tables = [_groups(groups)] if groups else []
    return made


def save(fleet, file, by=None, margin=MARGIN):
    """The ranking of the largest groups as a picture file; `by`: a metric, else the last."""
    groups = sorted(fleet.groups, key=lambda g: -len(g.nodes))[:PICTURES]
    pictures.save([_picture(group, by, margin) for group in groups], file)


def _groups(groups):
    """What is usual in each group: the median that its nodes are held to."""
    metrics = list(dict.fromkeys(metric for group in groups for metric in group.metrics))
    kernels, unit = list(dict.fromkeys(m.name for m in metrics)), common_unit(metrics)
    unit = f', {unit}' if unit else ''
    lines = []
    for group in groups:
        medians = group.medians()
        cells = [number(medians[k], '.1f') if k in medians else NONE for k in kernels]
        counts = [number(group.number), number(len(group.nodes))]
        lines.append([*counts, *cells, Cell(group.label)])
    titles = ['group', 'nodes', *heads(metrics), 'what they have in common']
    return Table(titles, lines, f'Medians of the groups{unit}')


def _picture(group, by=None, margin=MARGIN):
    metric = next((m for m in group.metrics if m.name == by), group.metrics[-1])
    title = f'Group {group.number}: {group.label}'
    rows = points(group, metric, margin)
    failed, suspect = (sum(row['v'] == word for row in rows) for word in ('FAIL', 'SUSPECT'))
    text = f'{metric.name.capitalize()} of {len(rows)} nodes, {failed} FAIL, {suspect} SUSPECT'
    charted = {
        order: charts.as_dict(_chart(group, order, margin), 360, f'{text}, by {order}')
        for order in ('place', 'name')
    }
    paper = charted['place'] | {'datasets': {'nodes': thin(with_labels(rows))}}
    name = f'nodes-group-{group.number}'
    return Picture(name, title, HOW_TO_READ, paper, None, charted, wide=True, group=group.number)


def points(group, metric, margin=MARGIN):
    """One per node: place by rate, place by name, figure, percent to the median, mark, label.

    Percent of the rate: below 0 is slower, whatever was measured.
    """
    percent = 100 * (np.array([node.ratios[metric.name] for node in group.nodes]) - 1)
    places = _places(np.argsort(percent, kind='stable'))
    names = _places(sorted(range(len(percent)), key=lambda i: group.nodes[i].name))
    return [
        {'n': node.name, 'place': places[i], 'name': names[i],
         'g': round(node.figures[metric.name], 2),
         'p': round(float(percent[i]), 3), 'v': mark(node, percent[i], margin), 'l': ''}
        for i, node in enumerate(group.nodes)
    ]  # fmt: skip


def with_labels(rows):
    """On paper: names of the slowest, where there is room for them; the page does it itself."""
    log, named = len(rows) > MANY, []
    most = max(row['place'] for row in rows)
    level = HIGHER_UP * np.ptp([row['p'] for row in rows])
    for row in sorted(
        (row for row in rows if row['v'] in ('FAIL', 'SUSPECT')), key=lambda row: row['p']
    ):
        share = np.log(row['place']) / np.log(most) if log else row['place'] / most
        at = share * charts.WIDTH
        near = [other for place, other in named
                if abs(at - place) < APART and abs(row['p'] - other['p']) <= level]  # fmt: skip
        if near:
            near[-1]['l'] += joined(near[-1]['l'], row['n'])
        elif len(named) < NAMED:
            named.append((at, row))
            row['l'] = row['n']
    return rows


def joined(label, name):
    """What a label gains by a further node at its place; of more than three the table tells."""
    count = label.count(' ') + 1
    return f' {name}' if count < 3 else '' if label.endswith('…') else ' …'


def _places(order):
    places = np.empty(len(order), dtype=int)
    places[np.asarray(order, dtype=int)] = np.arange(1, len(order) + 1)
    return places.tolist()


def mark(node, percent, margin=MARGIN):
    if node.verdict == 'PASS' and percent < -100 * margin:
        return LOW
    return node.verdict


def thin(rows):
    """For paper: all marked nodes, and the passing ones as far as the eye can tell them apart."""
    passing = sorted((row for row in rows if row['v'] == 'PASS'), key=lambda row: row['place'])
    marked = [row for row in rows if row['v'] != 'PASS']
    if len(passing) > DRAWN:
        at = np.unique(np.geomspace(1, len(passing), DRAWN).astype(int)) - 1
        passing = [passing[i] for i in at]
    return marked + passing


def _chart(group, order, margin):
    """`order`: 'place' (slowest first) or 'name' (neighbours beside each other)."""
    count = len(group.nodes)
    log = order == 'place' and count > MANY
    scale = alt.Scale(type='log', nice=False) if log else alt.Scale(nice=False, zero=False)
    where = 'place, slowest first' if order == 'place' else 'nodes in the order of their names'
    base = alt.Chart(alt.NamedData(name='nodes')).encode(
        x=alt.X(f'{order}:Q', title=where, scale=scale, axis=alt.Axis(format='d', grid=False)),
        y=alt.Y('p:Q', title='to the median, %', scale=alt.Scale(zero=False, padding=12)),
    )
    names = list(MARKS)
    colors = alt.Scale(domain=names, range=['@five', '@two', '@three', '@fail'])
    shapes = alt.Scale(domain=names, range=list(MARKS.values()))
    size = 34 if count <= MANY else 12
    tip = charts.tips(node='n:N', verdict='v:N', **{'figure': 'g:Q', '% to the median': 'p:Q'})
    marks = base.mark_point(filled=True, opacity=0.85).encode(
        color=alt.Color('v:N', scale=colors, title='verdict'),
        shape=alt.Shape('v:N', scale=shapes, title='verdict'),
        size=alt.condition("datum.v == 'PASS'", alt.value(size), alt.value(90)),
        order=alt.Order('p:Q', sort='descending'),
        tooltip=tip,
    )
    text = base.transform_filter("datum.l != ''")
    text = text.mark_text(align='left', dx=7, dy=-5, angle=300, fontSize=11, color='@fail')
    lines = alt.Chart(charts.data([{'p': 0, 'd': False}, {'p': -100 * margin, 'd': True}]))
    dash = alt.condition('datum.d', alt.value([5, 4]), alt.value([1, 0]))
    rules = lines.mark_rule(color='@muted').encode(y='p:Q', strokeDash=dash)
    return alt.layer(rules, marks, text.encode(text='l:N'))


# what the page makes its table, its pictures and its provenance of


def as_data(fleet, records):
    """Compact JSON; a node: [name, verdict, group, figures, reason, file, time, traits, z, q]."""
    files, traits, newest = _Numbered(), _Numbered(), {}
    for record in sorted(records, key=lambda r: r.time):
        newest[record.host] = record
    # of what was compared: a node measured alone, pair by pair, has hundreds that nobody ranks
    compared = [group for group in fleet.groups if len(group.nodes) > 1] or fleet.groups
    metrics = {m.name: m for group in compared for m in group.metrics}
    kernels = list(metrics)
    nodes = [_node(node, kernels, newest.get(node.name), files, traits) for node in fleet.nodes]
    groups = {
        g.number: {'label': g.label, 'median': {k: round(v, 3) for k, v in g.medians().items()}}
        for g in fleet.groups
    }
    return {
        'kernels': kernels, 'heads': heads(metrics.values()),
        'units': [m.unit for m in metrics.values()],
        'lower': [m.better == LOWER for m in metrics.values()], 'groups': groups,
        'nodes': nodes, 'files': files.items,
        'traits': [dict(pairs) for pairs in traits.items], 'margin': 100 * MARGIN,
        'low': LOW, 'named': NAMED, 'apart': APART, 'higher_up': HIGHER_UP, 'many': MANY,
    }  # fmt: skip


def _node(node, kernels, record, files, traits):
    figures = [None] * len(kernels)
    if node.rates is not None and node.verdict != 'INVALID':
        measured = node.figures
        figures = [round(measured[k], 2) if k in measured else None for k in kernels]
    row = [node.name, node.verdict, node.group, figures, node.reason]
    if record is None:
        return row
    behind = (
        files.number(record.file),
        int(record.time),
        traits.number(tuple(node.traits.items())),
    )
    return [*row, *behind, round(node.z, 1), float(f'{node.q:.2g}')]


class _Numbered:
    """Each item once; a row then only holds its number."""

    def __init__(self):
        self.items, self._numbers = [], {}

    def number(self, item):
        if item not in self._numbers:
            self._numbers[item] = len(self.items)
            self.items.append(item)
        return self._numbers[item]
